// One turn: claims input, asks the model, runs its calls, and again until the model owes nothing. Every started turn is ended.
import { dispatchChain, errorMessage } from '@deepseek-ai/cordis'
import type { SessionMessage, TurnEndReason } from '@deepseek-ai/dsh-session'
import type { AssembledPrompt } from '@deepseek-ai/dsh-system-prompt'
import type { ActiveTurn } from './active-turn.ts'
import { runBatch } from './batch.ts'
import { AgentError } from './errors.ts'
import type { LoopParts } from './loop-parts.ts'
import { askModel, thrownError, type StepContext } from './step.ts'
import type { PreStepDecision } from './types.ts'

export interface EndedTurn {
  readonly turn: number
  readonly reason: TurnEndReason
}

/** Rejects only when the session log takes no more events. */
export async function runTurn(parts: LoopParts, active: ActiveTurn): Promise<EndedTurn> {
  const { session, live, report } = parts
  const turn = session.turn + 1
  session.append('turn/start', { turn })
  let reason: TurnEndReason
  try {
    reason = await runSteps(parts, turn, active)
  } catch (error) {
    reason = active.cancelled ?? { kind: 'error', error: thrownError(error) }
    if (reason.kind === 'error') report(error)
  }
  live.endAnswer()
  session.append('turn/end', { turn, reason })
  return { turn, reason }
}

async function runSteps(parts: LoopParts, turn: number, active: ActiveTurn): Promise<TurnEndReason> {
  const { inbox } = parts
  let claimed = inbox.claimForTurn()
  for (let step = 1; ; step++) {
    const context: StepContext = { turn, step, active }
    const entered = await enterStep(parts, context, claimed)
    if ('kind' in entered) return entered
    const answer = await askModel(parts, context, entered)
    if (answer.kind === 'end') return answer.reason
    const owes = answer.calls.length > 0 && !(await runBatch(parts, context, answer.calls)).concludes
    if (active.cancelled !== undefined) return active.cancelled
    if (answer.finish === 'max-tokens') return { kind: 'max-tokens' }
    if (!owes && !inbox.steers()) return { kind: 'completed' }
    claimed = inbox.claimForStep()
  }
}

/** Puts claimed input into the conversation, whatever happens: a claimed message is never lost. */
async function enterStep(
  parts: LoopParts,
  context: StepContext,
  claimed: readonly SessionMessage[],
): Promise<AssembledPrompt | TurnEndReason> {
  const { agent, inbox, requestLog, systemPrompt } = parts
  const { turn, step, active } = context
  let messages = claimed
  let prompt: AssembledPrompt
  try {
    const decision = parts.hooks['agent/pre-step'] === undefined ? undefined : await preStep(parts, context, claimed)
    if (decision?.kind === 'reject') {
      messages = []
      return active.cancelled ?? { kind: 'aborted', cause: decision.reason }
    }
    messages = decision?.messages ?? claimed
    prompt = systemPrompt.assemble({ scope: agent })
    if (active.cancelled === undefined) requestLog.logContext(turn, prompt)
  } finally {
    inbox.join(turn, claimed, messages)
  }
  if (active.cancelled !== undefined) return active.cancelled
  return step === 1 && messages.length === 0 ? { kind: 'completed' } : prompt
}

/** Asks the listeners. */
async function preStep(
  { agent, hooks }: LoopParts,
  { turn, step, active }: StepContext,
  messages: readonly SessionMessage[],
): Promise<PreStepDecision> {
  const enter = (): PreStepDecision => ({ kind: 'enter', messages })
  const event = { agent, messages, turn, step, signal: active.signal }
  const decision = await dispatchChain(hooks['agent/pre-step'], agent, [event], enter)
  if (isDecision(decision)) return decision
  const shape = "{ kind: 'enter', messages } or { kind: 'reject', reason }"
  throw new AgentError(`a listener of agent/pre-step must answer ${shape}, got ${show(decision)}`, 'INVALID_DECISION')
}

function isDecision(decision: unknown): decision is PreStepDecision {
  if (typeof decision !== 'object' || decision === null || !('kind' in decision)) return false
  if (decision.kind === 'reject') return 'reason' in decision && typeof decision.reason === 'string'
  return decision.kind === 'enter' && 'messages' in decision && Array.isArray(decision.messages)
}

function show(value: unknown): string {
  try {
    return JSON.stringify(value) ?? typeof value
  } catch (error) {
    return errorMessage(error)
  }
}
