// The model's part of a step: one request, tried again after failures that may pass, and its answer in the log.
import { dispatchChain, errorCode, errorMessage } from '@deepseek-ai/cordis'
import type { LlmFailure, ModelRef } from '@deepseek-ai/dsh-llm'
import type { TurnEndReason } from '@deepseek-ai/dsh-session'
import type { AssembledPrompt } from '@deepseek-ai/dsh-system-prompt'
import type { ActiveTurn } from './active-turn.ts'
import { readAnswer, type Answer, type AttemptOutcome } from './attempt.ts'
import type { LoopParts } from './loop-parts.ts'
import { pause, retryDelay } from './retry.ts'
import type { RequestErrorDecision, RequestOptions } from './types.ts'

export interface StepContext {
  readonly turn: number
  readonly step: number
  readonly active: ActiveTurn
}

export type StepEnd = Answer | { readonly kind: 'end'; readonly reason: TurnEndReason }

/** The logged answer of the step, or how the turn ends without one. */
export async function askModel(parts: LoopParts, context: StepContext, prompt: AssembledPrompt): Promise<StepEnd> {
  const { turn, step, active } = context
  for (let attempt = 1; ; attempt++) {
    const chosen = requestOptions(parts, context)
    const options = chosen instanceof Promise ? await chosen : chosen
    if (active.cancelled !== undefined) return end(active.cancelled)
    const started = performance.now()
    const outcome = await request(parts, context, prompt, options, attempt)
    const durationMs = Math.round(performance.now() - started)
    parts.live.endAnswer()
    if (outcome.kind !== 'failure') return logAnswer(parts, context, outcome, options.model, durationMs)
    const { failure } = outcome
    const delayMs = await decideRetry(parts, context, options.model, failure, attempt)
    if (active.cancelled !== undefined) return end(active.cancelled)
    if (delayMs === undefined) return end({ kind: 'error', error: turnError(failure) })
    parts.session.append('llm/retry', { turn, step, attempt, delayMs, failure })
    await pause(delayMs, active.signal)
    if (active.cancelled !== undefined) return end(active.cancelled)
  }
}

function end(reason: TurnEndReason): StepEnd {
  return { kind: 'end', reason }
}

function request(
  { requestLog, session, llm, live, callIds }: LoopParts,
  { turn, step, active }: StepContext,
  prompt: AssembledPrompt,
  { model, maxTokens }: RequestOptions,
  attempt: number,
): Promise<AttemptOutcome> {
  const { provider, model: name, system, tools } = requestLog.logHeader(model, prompt)
  const messages = requestLog.messages()
  const { signal } = active
  live.attempt(turn, step, attempt)
  const limit = maxTokens === undefined ? {} : { maxTokens }
  return readAnswer(
    { callIds, live },
    () => llm.stream({ provider, model: name, system, tools, messages, signal, sessionId: session.id, ...limit }),
    active,
  )
}

function logAnswer(
  { session, callIds }: LoopParts,
  { turn, step, active }: StepContext,
  outcome: Exclude<AttemptOutcome, { kind: 'failure' }>,
  model: ModelRef,
  durationMs: number,
): StepEnd {
  const { content, usage } = outcome
  const facts = { turn, step, content, model, durationMs, ...(usage === undefined ? {} : { usage }) }
  if (outcome.kind === 'answer') {
    session.append('assistant/message', facts)
    callIds.keep(outcome.calls.map((call) => call.id))
    return outcome
  }
  if (content.length > 0) session.append('assistant/message', { ...facts, interrupted: true })
  return end(active.cancelled ?? { kind: 'aborted', cause: 'unknown' })
}

/** The model chosen for the session, unless a listener of `agent/request` answers another. Throws `UNKNOWN_MODEL`, `NO_ADAPTER`. */
function requestOptions(
  parts: LoopParts,
  { turn, step, active }: StepContext,
): RequestOptions | Promise<RequestOptions> {
  const { agent, hooks, llm } = parts
  const chosen = (): RequestOptions => ({ model: llm.resolve(parts.session.model) })
  const listeners = hooks['agent/request']
  if (listeners === undefined) return chosen()
  return dispatchChain(listeners, agent, [{ agent, turn, step, signal: active.signal }], chosen)
}

async function decideRetry(
  { agent, hooks, config }: LoopParts,
  { turn, step, active }: StepContext,
  model: ModelRef,
  failure: LlmFailure,
  attempt: number,
): Promise<number | undefined> {
  const usual = retryDelay(failure, attempt, config)
  const listeners = hooks['agent/request-error']
  if (listeners === undefined || active.cancelled !== undefined) return usual
  const event = { agent, turn, step, model, failure, attempt, signal: active.signal }
  const inner = (): RequestErrorDecision => undefined
  const decision = await dispatchChain<RequestErrorDecision>(listeners, agent, [event], inner)
  // A listener that always wants another try must not keep the turn for ever.
  return decision?.kind === 'retry' && attempt <= config.maxRetries ? (usual ?? 0) : usual
}

function turnError({ code, message, status, retryAfterMs }: LlmFailure): (TurnEndReason & { kind: 'error' })['error'] {
  const wait =
    retryAfterMs === undefined ? '' : ` The provider asks to wait ${Math.ceil(retryAfterMs / 1000)} s before a retry.`
  return { code, message: message + wait, ...(status === undefined ? {} : { status }) }
}

/** What a thrown error says of the turn that it ended. */
export function thrownError(error: unknown): (TurnEndReason & { kind: 'error' })['error'] {
  const code = errorCode(error) ?? 'UNKNOWN'
  const remedy = code === 'UNKNOWN_MODEL' || code === 'NO_ADAPTER' ? '. Choose another model for this session.' : ''
  return { code, message: errorMessage(error) + remedy }
}
