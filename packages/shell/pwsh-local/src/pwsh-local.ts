// The local PowerShell provider of `ctx.shell`: the shared executor core with PowerShell's argv. It confines nothing.
import type { Context } from '@deepseek-ai/cordis'
import { LocalExecutor, LocalShell } from '@deepseek-ai/dsh-shell/executor'
import { Config, withDefaults, type PwshLocalOptions } from './config.ts'
import { pwshDialect } from './dialect.ts'
import { findPwsh, isProgram } from './find-pwsh.ts'

/** Runs each command in a fresh PowerShell without profile. */
export class PwshLocal extends LocalShell {
  static override readonly name = 'pwsh-local'
  static readonly Config = Config

  readonly sandboxMode = undefined
  readonly dialect = 'pwsh'
  protected readonly executor: LocalExecutor

  /** Throws `ShellError` (`SHELL_NOT_FOUND`) when there is no PowerShell. */
  constructor(ctx: Context, options: PwshLocalOptions = {}) {
    super(ctx)
    const limits = withDefaults(options)
    const { env, platform } = process
    const pwsh = findPwsh({ pwshPath: limits.pwshPath, env, platform, isProgram })
    this.executor = new LocalExecutor({ dialect: pwshDialect(pwsh), limits })
  }
}
