// The QuickJS provider of `ctx.codeRuntime`: what its fiber starts, runs and ends.
import { Service, type Context } from '@deepseek-ai/cordis'
import { CodeRuntime, type CodeRunRequest, type CodeRunResult } from '@deepseek-ai/dsh-code-runtime'
import { Config, withDefaults, type CodeRuntimeQuickjsOptions } from './config.ts'
import { WorkerPool } from './pool.ts'
import { ProgramRuns } from './runs.ts'
import type { WorkerThread } from './worker-thread.ts'

/** Runs TypeScript in QuickJS on a warm worker thread: nothing of the machine but the bindings, a fresh context a run. */
export class CodeRuntimeQuickjs extends CodeRuntime {
  static override readonly name = 'code-runtime-quickjs'
  static readonly Config = Config

  readonly language = 'typescript'
  private readonly warm: boolean
  private readonly pool: WorkerPool
  private readonly runs: ProgramRuns<WorkerThread>

  constructor(ctx: Context, options: CodeRuntimeQuickjsOptions = {}) {
    super(ctx)
    // A property of the service then costs its callers 0.1 µs and not 5: it has no use for a shadow of itself in each context.
    Object.assign(Reflect.get(this, Service.tracker) as object, { noShadow: true, associate: undefined })
    const config = withDefaults(options)
    const { maxConcurrentRuns: size, maxMemoryMb, runsPerWorker } = config
    this.warm = config.warm
    this.pool = new WorkerPool({ size, maxMemoryMb, runsPerWorker })
    this.runs = new ProgramRuns(config, this.pool)
  }

  *[Service.init](): Generator<() => Promise<void>, void, void> {
    if (this.warm) this.pool.warm()
    yield async () => {
      await this.runs.dispose()
      await this.pool.dispose()
    }
  }

  run(request: CodeRunRequest): Promise<CodeRunResult> {
    return this.runs.run(request)
  }
}
