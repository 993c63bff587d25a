// Carries the calls of one program into the pipeline: in order, overlapping where tools allow it, until the run is over.
import { contentText, imageText, type ContentBlock, type Json } from '../presentation.ts'
import { onAbort } from '../abort-hub.ts'
import { boundContent } from '../bound.ts'
import { CallScheduler } from '../scheduler.ts'
import type {
  SubCallEvent,
  ToolBodyExecution,
  ToolExecutionInput,
  ToolExecutionMode,
  ToolExecutionResult,
} from '../types.ts'

export interface BridgeHost {
  readonly maxParallelSubCalls: number
  executionMode(exec: Pick<ToolExecutionInput, 'name' | 'arguments' | 'agent'>): ToolExecutionMode
  execute(input: ToolExecutionInput): Promise<ToolExecutionResult>
  /** Tells observers of a call that starts or has ended. */
  notify(exec: ToolBodyExecution, event: SubCallEvent): void
}

type Outcome = { readonly result: ToolExecutionResult; readonly durationMs: number } | { readonly skipped: string }

/** What observers are shown of a result; programs get the whole value. */
const MAX_SHOWN_BYTES = 16 * 1024

export class Bridge {
  private readonly host: BridgeHost
  private readonly exec: ToolBodyExecution
  private readonly scheduler: CallScheduler<Outcome>
  /** Ends the calls that a program has left behind. Made with the first call, since many programs make none. */
  private calls: AbortController | undefined
  private readonly leave: () => void
  private readonly unsettled = new Set<Promise<unknown>>()
  private submitted = 0
  private over: string | undefined

  constructor(host: BridgeHost, exec: ToolBodyExecution) {
    this.host = host
    this.exec = exec
    this.scheduler = new CallScheduler({ maxParallelCalls: host.maxParallelSubCalls })
    const { signal } = exec
    const follow = (): void => this.stop('aborted', signal.reason)
    this.leave = signal.aborted ? () => {} : onAbort(signal, follow)
    if (signal.aborted) follow()
  }

  /** Resolves with the canonical value after policy; rejects with an Error whose message is all that a program may know. */
  async call(name: string, argument: Json): Promise<Json> {
    if (this.over !== undefined) throw new Error(`run_code run is over (${this.over}); ${name} not dispatched`)
    const callId = `${this.exec.callId}:code:${++this.submitted}`
    const submission = this.scheduler.submit(this.scheduled(callId, name, argument))
    this.unsettled.add(submission)
    try {
      const outcome = await submission
      if ('skipped' in outcome) throw new Error(outcome.skipped)
      if (outcome.result.isError) throw new Error(outcome.result.error.message)
      return outcome.result.value
    } finally {
      this.unsettled.delete(submission)
    }
  }

  /** Starts nothing more, cancels what runs, and waits for it. */
  async close(): Promise<void> {
    this.leave()
    this.stop('ended')
    if (this.unsettled.size === 0) return
    await Promise.allSettled(this.unsettled)
  }

  private stop(why: string, reason?: unknown): void {
    this.over ??= why
    this.scheduler.stop()
    this.calls?.abort(reason ?? new DOMException('the program has ended', 'AbortError'))
  }

  private get signal(): AbortSignal {
    this.calls ??= new AbortController()
    return this.calls.signal
  }

  private scheduled(callId: string, name: string, argument: Json): Parameters<CallScheduler<Outcome>['submit']>[0] {
    const { host, exec } = this
    const { agent, token: parent } = exec
    return {
      mode: () => host.executionMode({ name, arguments: argument, agent }),
      run: async () => {
        host.notify(exec, { kind: 'start', callId, name, arguments: argument })
        const started = performance.now()
        const { signal } = this
        const result = await host.execute({ callId, name, arguments: argument, signal, agent, parent })
        return { result, durationMs: Math.round(performance.now() - started) }
      },
      unstarted: () => ({ skipped: `run_code run is over (${this.over ?? 'ended'}); ${name} tool call abandoned` }),
      commit: (outcome) => {
        if ('skipped' in outcome) return
        const { result, durationMs } = outcome
        // A program gets values, which have no pictures: what it has asked for reaches the model beside its result.
        const images = result.isError ? [] : result.content.filter((block) => block.type === 'image')
        if (images.length > 0) {
          const text = `From ${name}, called by the program in ${exec.callId}:`
          exec.deferContext({
            source: { kind: 'tool', callId: exec.callId },
            content: [{ type: 'text', text }, ...images],
          })
        }
        for (const context of result.additionalContexts ?? []) exec.deferContext(context)
        if (!result.isError && result.concludesTurn === true) exec.concludeTurn()
        const error = result.isError ? { error: { code: result.error.code, message: result.error.message } } : {}
        host.notify(exec, {
          kind: 'end',
          callId,
          name,
          isError: result.isError,
          content: shown(result.content),
          ...error,
          durationMs,
        })
      },
    }
  }
}

function shown(given: readonly ContentBlock[]): readonly ContentBlock[] {
  const content = given.some((block) => block.type === 'image') ? given.map(named) : given
  return contentText(content).length > MAX_SHOWN_BYTES / 3 ? boundContent(content, MAX_SHOWN_BYTES) : content
}

/** Pictures are large, and reach the model beside the result of the program. */
function named(block: ContentBlock): ContentBlock {
  return block.type === 'image' ? { type: 'text', text: imageText(block) } : block
}
