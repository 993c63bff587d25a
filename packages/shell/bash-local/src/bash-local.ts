// The local bash provider of `ctx.shell`: the shared executor core with bash's argv. It confines nothing.
import type { Context } from '@deepseek-ai/cordis'
import {
  bashConfig,
  bashConfigSchema,
  bashDialect,
  LocalExecutor,
  LocalShell,
  type BashOptions,
} from '@deepseek-ai/dsh-shell/executor'

/** Runs `bash -c <command>`: a fresh shell a call, no login, no startup file but `BASH_ENV`. */
export class BashLocal extends LocalShell {
  static override readonly name = 'bash-local'
  static readonly Config = bashConfigSchema('bash-local')

  readonly sandboxMode = undefined
  readonly dialect = 'bash'
  protected readonly executor: LocalExecutor

  /** Throws `ShellError` (`SHELL_NOT_FOUND`) when there is no bash. */
  constructor(ctx: Context, options: BashOptions = {}) {
    super(ctx)
    const limits = bashConfig(options)
    this.executor = new LocalExecutor({ dialect: bashDialect(limits.shellPath), limits })
  }
}
