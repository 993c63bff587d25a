// The tool calls of one answer: logs each before it starts, runs them in order through the scheduler, commits results in the model's order.
import { errorCode, errorMessage } from '@deepseek-ai/cordis'
import type { ToolCallBlock } from '@deepseek-ai/dsh-llm'
import type { SessionEventMap } from '@deepseek-ai/dsh-session'
import { boundContent, CallScheduler } from '@deepseek-ai/dsh-tools'
import type { ContextMessage, ScheduledCall, ToolExecutionResult } from '@deepseek-ai/dsh-tools'
import type { ActiveTurn } from './active-turn.ts'
import { parseArguments } from './call-ids.ts'
import { isBlank } from './inbox.ts'
import type { LoopParts } from './loop-parts.ts'

interface BatchContext {
  readonly turn: number
  readonly step: number
  readonly active: ActiveTurn
}

interface CallOutcome {
  readonly callSeq?: number
  readonly durationMs: number
  readonly result: Pick<ToolExecutionResult, 'content' | 'meta' | 'additionalContexts'> & {
    readonly isError: boolean
    readonly error?: { readonly code: string; readonly message: string }
    readonly concludesTurn?: true
  }
  /** The loop itself failed: the turn ends with this after the batch. */
  readonly fault?: { readonly error: unknown } | undefined
}

const UNSTARTED = 'The call was not started: the turn was stopped before.'

/**
 * Resolves when every call has its result in the log, with whether a call asked for the turn to end here. Rejects when the log
 * or the registry itself failed.
 */
export async function runBatch(
  parts: LoopParts,
  context: BatchContext,
  calls: readonly ToolCallBlock[],
): Promise<{ concludes: boolean }> {
  const scheduler = new CallScheduler<CallOutcome>({ maxParallelCalls: parts.config.maxParallelCalls })
  const stop = (): void => scheduler.stop()
  const forget = context.active.onCancel(stop)
  try {
    const submitted = calls.map((call) => scheduler.submit(scheduled(parts, context, call, stop)))
    if (context.active.cancelled !== undefined) stop()
    const settled = await Promise.allSettled(submitted)
    addContexts(parts, settled)
    let concludes = false
    for (const each of settled) {
      if (each.status === 'rejected') throw each.reason
      if (each.value.fault !== undefined) throw each.value.fault.error
      concludes ||= each.value.result.concludesTurn === true
    }
    return { concludes }
  } finally {
    forget()
  }
}

function scheduled(
  parts: LoopParts,
  context: BatchContext,
  call: ToolCallBlock,
  stop: () => void,
): ScheduledCall<CallOutcome> {
  const { tools, agent, live, session, config } = parts
  const { turn, step } = context
  const args = parseArguments(call.arguments)
  return {
    mode: () => tools.executionMode({ name: call.name, arguments: args, agent }),
    run: () => runCall(parts, context, call, args, stop),
    unstarted: () => ({ durationMs: 0, result: failure('ABORTED_BEFORE_DISPATCH', UNSTARTED) }),
    commit({ result, callSeq, durationMs }) {
      live.endCall(call.id)
      const { isError, error, meta } = result
      session.append('tool/result', {
        turn,
        step,
        callId: call.id,
        ...(callSeq === undefined ? {} : { callSeq }),
        content: boundContent(result.content, config.maxResultBytes),
        isError,
        ...(error === undefined ? {} : { error: { code: error.code, message: error.message } }),
        ...(meta === undefined ? {} : { meta }),
        durationMs,
      } satisfies SessionEventMap['tool/result'])
    },
  }
}

async function runCall(
  parts: LoopParts,
  { turn, step, active }: BatchContext,
  call: ToolCallBlock,
  args: unknown,
  stop: () => void,
): Promise<CallOutcome> {
  const { session, tools, agent, live } = parts
  const { signal } = active
  const { id: callId, name } = call
  const { seq: callSeq } = session.append('tool/call', { turn, step, callId, name, arguments: call.arguments })
  const started = performance.now()
  const timed = (result: CallOutcome['result'], fault?: CallOutcome['fault']): CallOutcome => ({
    callSeq,
    durationMs: Math.round(performance.now() - started),
    result,
    fault,
  })
  try {
    // A body may kill this very process: what it was about to do must be on disk first.
    await session.flush()
  } catch (error) {
    stop()
    const reason = `The call was not started: the session log cannot be written (${errorMessage(error)}).`
    return timed(failure(errorCode(error) ?? 'SESSION_WRITE_FAILED', reason), { error })
  }
  live.startCall(callId)
  try {
    const onReport = live.progress.bind(live, callId)
    return timed(await tools.execute({ callId, name, arguments: args, signal, agent, onReport }))
  } catch (error) {
    stop()
    const reason = `The tool pipeline itself failed: ${errorMessage(error)}. Check the effects of the call before you repeat it.`
    return timed(failure('TOOL_OUTCOME_UNKNOWN', reason), { error })
  }
}

function failure(code: string, message: string): CallOutcome['result'] {
  return { isError: true, error: { code, message }, content: [{ type: 'text', text: `Error: ${message}` }] }
}

/** Context that post-execute policy adds: behind all results of the batch, in the order of the calls. */
function addContexts({ inbox }: LoopParts, settled: readonly PromiseSettledResult<CallOutcome>[]): void {
  for (const each of settled) {
    if (each.status === 'rejected') continue
    for (const { content, source } of each.value.result.additionalContexts ?? ([] as ContextMessage[])) {
      if (!isBlank(content)) inbox.add(content, source, 'inject')
    }
  }
}
