// The local bash provider of `ctx.shell`: the shared executor core with bash's argv. It confines nothing.
import { Service, type Context } from '@deepseek-ai/cordis'
import { Shell, type ShellProcess, type ShellRequest, type ShellResult, type ShellSpec } from '@deepseek-ai/dsh-shell'
import {
  bashConfig,
  bashConfigSchema,
  bashDialect,
  LocalExecutor,
  type BashOptions,
} from '@deepseek-ai/dsh-shell/executor'

/** Runs `bash -c <command>`: a fresh shell a call, no login, no startup file but `BASH_ENV`. */
export class BashLocal extends Shell {
  static override readonly name = 'bash-local'
  static readonly Config = bashConfigSchema('bash-local')

  readonly sandboxMode = undefined
  readonly dialect = 'bash'
  private readonly executor: LocalExecutor

  /** Throws `ShellError` (`SHELL_NOT_FOUND`) when there is no bash. */
  constructor(ctx: Context, options: BashOptions = {}) {
    super(ctx)
    const limits = bashConfig(options)
    this.executor = new LocalExecutor({ dialect: bashDialect(limits.shellPath), limits })
  }

  *[Service.init](): Generator<() => Promise<void>, void, void> {
    yield () => this.executor.dispose()
  }

  resolve(request: ShellRequest): ShellSpec {
    return this.executor.resolve(request)
  }

  run(spec: ShellSpec): Promise<ShellResult> {
    return this.executor.run(spec)
  }

  start(spec: ShellSpec): Promise<ShellProcess> {
    return this.executor.start(spec)
  }
}
