// The QuickJS provider of `ctx.codeRuntime`: checks a request, erases its types, finds it a worker and awaits its one result.
import { Service, type Context } from '@deepseek-ai/cordis'
import { CodeRuntime, CodeRuntimeError, type CodeRunRequest, type CodeRunResult } from '@deepseek-ai/dsh-code-runtime'
import { checkBindings } from './bindings.ts'
import { Config, withDefaults, type CodeRuntimeQuickjsConfig, type CodeRuntimeQuickjsOptions } from './config.ts'
import { WorkerPool } from './pool.ts'
import { eraseTypes } from './program.ts'
import { abortMessage, runOnWorker, type RunPlan } from './run.ts'
import type { WorkerThread } from './worker-thread.ts'

const DISPOSED = 'runtime disposed'

/** Runs TypeScript in QuickJS on a warm worker thread: nothing of the machine but the bindings, a fresh context a run. */
export class CodeRuntimeQuickjs extends CodeRuntime {
  static override readonly name = 'code-runtime-quickjs'
  static readonly Config = Config

  readonly language = 'typescript'
  private readonly config: CodeRuntimeQuickjsConfig
  private readonly pool: WorkerPool
  /** Ends every run on disposal. */
  private readonly closing = new AbortController()
  private readonly running = new Set<Promise<unknown>>()

  constructor(ctx: Context, options: CodeRuntimeQuickjsOptions = {}) {
    super(ctx)
    const config = withDefaults(options)
    const { maxConcurrentRuns: size, maxMemoryMb, runsPerWorker } = config
    this.config = config
    this.pool = new WorkerPool({ size, maxMemoryMb, runsPerWorker })
  }

  *[Service.init](): Generator<() => Promise<void>, void, void> {
    if (this.config.warm) this.pool.warm()
    yield async () => {
      this.closing.abort(new Error(DISPOSED))
      await Promise.allSettled(this.running)
      await this.pool.dispose()
    }
  }

  async run(request: CodeRunRequest): Promise<CodeRunResult> {
    if (this.closing.signal.aborted) throw new CodeRuntimeError(DISPOSED, 'CODE_RUNTIME_DISPOSED')
    const bindings = checkBindings(request.bindings)
    const { signal } = request
    if (signal?.aborted === true) return aborted(signal)
    const erased = eraseTypes(request.program)
    if ('syntaxError' in erased) return { logs: [], error: { kind: 'exception', message: erased.syntaxError } }
    const stop = new AbortController()
    const follow = (from: AbortSignal) => (): void => stop.abort(from.reason)
    const release = [signal, this.closing.signal].map((from) => {
      const listener = from === undefined ? undefined : follow(from)
      if (listener !== undefined) from?.addEventListener('abort', listener, { once: true })
      return () => listener !== undefined && from?.removeEventListener('abort', listener)
    })
    const work = this.onThread({ ...this.limits(), request, erased, bindings, signal: stop.signal })
    this.running.add(work)
    try {
      return await work
    } finally {
      this.running.delete(work)
      for (const each of release) each()
    }
  }

  private limits(): Pick<RunPlan, 'computeMs' | 'maxWallMs' | 'maxOutputBytes'> {
    const { computeMs, maxWallMs, maxOutputBytes } = this.config
    return { computeMs, maxWallMs, maxOutputBytes }
  }

  private async onThread(plan: RunPlan): Promise<CodeRunResult> {
    let thread: WorkerThread
    try {
      thread = await this.pool.acquire(plan.signal)
    } catch (thrown) {
      if (plan.signal.aborted && thrown === plan.signal.reason) return aborted(plan.signal)
      this.pool.release(undefined, false)
      const message = thrown instanceof Error ? thrown.message : String(thrown)
      return { logs: [], error: { kind: 'runtime-exit', message } }
    }
    if (plan.signal.aborted) {
      this.pool.release(thread, true)
      return aborted(plan.signal)
    }
    const { result, reusable, neverStarted } = await runOnWorker(thread, plan)
    this.pool.release(thread, reusable)
    return neverStarted ? await this.onThread(plan) : result
  }
}

function aborted(signal: AbortSignal): CodeRunResult {
  return { logs: [], error: { kind: 'abort', message: abortMessage(signal) } }
}
