// The runs of one runtime: each checked, erased, given a worker and awaited; ended by its caller, by its limits or by disposal.
// A plain object, since every property of a service costs a look through its context.
import { errorMessage } from '@deepseek-ai/cordis'
import { CodeRuntimeError, type CodeRunRequest, type CodeRunResult } from '@deepseek-ai/dsh-code-runtime'
import { checkBindings } from './bindings.ts'
import { Cancellation } from './cancellation.ts'
import type { CodeRuntimeQuickjsConfig } from './config.ts'
import { eraseTypes } from './program.ts'
import { runOnWorker, type RunPlan, type RunThread } from './run.ts'

const DISPOSED = 'runtime disposed'
/** A worker may break while it prepares for the next run; a second one that does so is no accident. */
const MAX_STARTS = 2

export type Limits = Pick<CodeRuntimeQuickjsConfig, 'computeMs' | 'maxWallMs' | 'maxOutputBytes'>

/** Where workers come from: see `WorkerPool`. */
export interface Threads<Thread extends RunThread> {
  acquire(cancellation: Cancellation): Promise<Thread | undefined>
  release(thread: Thread | undefined, reusable: boolean): void
}

export class ProgramRuns<Thread extends RunThread> {
  private readonly limits: Limits
  private readonly threads: Threads<Thread>
  private readonly running = new Map<Cancellation, Promise<CodeRunResult>>()
  private disposed = false

  constructor(limits: Limits, threads: Threads<Thread>) {
    this.limits = limits
    this.threads = threads
  }

  async run(request: CodeRunRequest): Promise<CodeRunResult> {
    if (this.disposed) throw new CodeRuntimeError(DISPOSED, 'CODE_RUNTIME_DISPOSED')
    const bindings = checkBindings(request.bindings)
    const { signal } = request
    if (signal?.aborted === true) return aborted(errorMessage(signal.reason))
    const erased = eraseTypes(request.program)
    if ('syntaxError' in erased) return { logs: [], error: { kind: 'exception', message: erased.syntaxError } }
    const cancellation = new Cancellation()
    const follow = (): void => cancellation.cancel(errorMessage(signal?.reason))
    signal?.addEventListener('abort', follow, { once: true })
    const work = this.onThread({ limits: this.limits, request, erased, bindings, cancellation }, 1)
    this.running.set(cancellation, work)
    try {
      return await work
    } finally {
      this.running.delete(cancellation)
      signal?.removeEventListener('abort', follow)
    }
  }

  /** Ends every run with `abort` and resolves when the last has ended. */
  async dispose(): Promise<void> {
    this.disposed = true
    const work = [...this.running.values()]
    for (const cancellation of this.running.keys()) cancellation.cancel(DISPOSED)
    await Promise.allSettled(work)
  }

  private async onThread(plan: RunPlan, start: number): Promise<CodeRunResult> {
    const { cancellation } = plan
    let thread: Thread | undefined
    try {
      thread = await this.threads.acquire(cancellation)
    } catch (thrown) {
      this.threads.release(undefined, false)
      return { logs: [], error: { kind: 'runtime-exit', message: errorMessage(thrown) } }
    }
    if (cancellation.message !== undefined) {
      if (thread !== undefined) this.threads.release(thread, true)
      return aborted(cancellation.message)
    }
    if (thread === undefined) return aborted('the runtime gave no thread')
    const { result, reusable, neverStarted } = await runOnWorker(thread, plan)
    this.threads.release(thread, reusable)
    return neverStarted && start < MAX_STARTS ? await this.onThread(plan, start + 1) : result
  }
}

function aborted(message: string): CodeRunResult {
  return { logs: [], error: { kind: 'abort', message } }
}
