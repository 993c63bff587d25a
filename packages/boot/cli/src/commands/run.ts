// `dsh run`: one task for one agent, its last answer on standard output.
import type { Agent } from '@deepseek-ai/dsh-agent'
import type { LlmProviderStatus, TokenUsage } from '@deepseek-ai/dsh-llm'
import type { SessionEvent, TurnEndReason } from '@deepseek-ai/dsh-session'
import { CommandError, EXIT, type ExitCode } from '../exit.ts'
import { onInterrupt, required, withHost } from '../host.ts'
import { asLines, textInput } from '../text.ts'
import type { OutputFlags } from '../program.ts'

interface RunOutcome {
  answer: string
  reason: TurnEndReason | undefined
  calls: { name: string; isError: boolean; code?: string }[]
  usage: TokenUsage
}

export async function run(word: string | undefined, flags: OutputFlags): Promise<ExitCode> {
  const task = (await textInput(word, 'the task')).trim()
  if (task === '') throw new CommandError('the task is empty', EXIT.usage)
  return withHost(flags, async ({ ctx }) => {
    const agents = required(ctx, 'agents', flags)
    const agent = await agents.create({
      cwd: process.cwd(),
      ...(flags.model === undefined ? {} : { model: flags.model }),
    })
    if (agent.model.provider === 'offline' && flags.model === undefined) noteUnusedKeys(ctx.llm.status())
    const outcome = await perform(agent, task)
    await agent.session.flush()
    if (flags.json === true) {
      const { answer, reason, calls, usage } = outcome
      process.stdout.write(
        `${JSON.stringify({ session: agent.id, model: agent.model, answer, reason, calls, usage })}\n`,
      )
    } else if (outcome.answer !== '') {
      process.stdout.write(asLines(outcome.answer))
    }
    return exitFor(outcome.reason)
  })
}

/** A key that cannot be used must not make way for the offline model in silence. */
function noteUnusedKeys(providers: readonly LlmProviderStatus[]): void {
  for (const { provider, configured, keySource, remedy } of providers) {
    if (configured || keySource === undefined) continue
    process.stderr.write(
      `dsh: the key of "${provider}" is not used, and the offline model answers: ${remedy ?? 'its settings are incomplete'}\n`,
    )
  }
}

async function perform(agent: Agent, task: string): Promise<RunOutcome> {
  const outcome: RunOutcome = { answer: '', reason: undefined, calls: [], usage: { input: 0, output: 0 } }
  const names = new Map<string, string>()
  const stop = agent.session.subscribe((event) => note(outcome, names, event))
  const release = onInterrupt(() => agent.cancel('user', { clearInbox: true }))
  try {
    agent.send(task)
    await agent.whenIdle()
  } finally {
    release()
    stop()
  }
  return outcome
}

function note(outcome: RunOutcome, names: Map<string, string>, event: SessionEvent): void {
  switch (event.type) {
    case 'assistant/message': {
      const text = event.data.content.map((block) => (block.type === 'text' ? block.text : '')).join('')
      if (text.trim() !== '') outcome.answer = text
      if (event.data.usage !== undefined) outcome.usage = sum(outcome.usage, event.data.usage)
      break
    }
    case 'tool/call':
      names.set(event.data.callId, event.data.name)
      progress(`${event.data.name} …`)
      break
    case 'tool/result': {
      const { callId, isError, error } = event.data
      outcome.calls.push({
        name: names.get(callId) ?? '',
        isError,
        ...(error === undefined ? {} : { code: error.code }),
      })
      if (error !== undefined) progress(`${names.get(callId) ?? 'call'} failed: ${error.code}: ${error.message}`)
      break
    }
    case 'llm/retry':
      progress(`${event.data.failure.code}: trying again in ${Math.round(event.data.delayMs / 100) / 10} s`)
      break
    case 'turn/end':
      outcome.reason = event.data.reason
      if (event.data.reason.kind === 'error') {
        process.stderr.write(`dsh: ${event.data.reason.error.code}: ${event.data.reason.error.message}\n`)
      }
      if (event.data.reason.kind === 'max-tokens') process.stderr.write('dsh: the answer was cut at the token limit\n')
      break
    default:
  }
}

/** What happens, for a person who watches; a pipe gets the answer alone. */
function progress(line: string): void {
  if (process.stderr.isTTY) process.stderr.write(`  ${line}\n`)
}

function sum(a: TokenUsage, b: TokenUsage): TokenUsage {
  const add = (key: keyof TokenUsage): number => (a[key] ?? 0) + (b[key] ?? 0)
  return {
    input: add('input'),
    output: add('output'),
    cacheRead: add('cacheRead'),
    cacheWrite: add('cacheWrite'),
    reasoning: add('reasoning'),
  }
}

/** Failures of the model side; any other code of a failed turn is ours. */
const PROVIDER_CODES = new Set([
  'MISSING_CREDENTIAL',
  'AUTH',
  'QUOTA',
  'RATE_LIMIT',
  'CONTEXT_WINDOW_EXCEEDED',
  'INVALID_REQUEST',
  'UNKNOWN_MODEL',
  'NO_ADAPTER',
  'SERVER',
  'TIMEOUT',
  'TRANSPORT',
  'STREAM_CLOSED',
  'EMPTY_RESPONSE',
  'MALFORMED_RESPONSE',
])

function exitFor(reason: TurnEndReason | undefined): ExitCode {
  switch (reason?.kind) {
    case 'completed':
      return EXIT.done
    case 'aborted':
      return reason.cause === 'user' ? EXIT.interrupted : EXIT.refused
    case 'error':
      return PROVIDER_CODES.has(reason.error.code) ? EXIT.provider : EXIT.failed
    default: // cut at the token limit, or ended without a reason
      return EXIT.failed
  }
}
