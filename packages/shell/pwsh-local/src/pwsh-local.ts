// The local PowerShell provider of `ctx.shell`: the shared executor core with PowerShell's argv. It confines nothing.
import { Service, type Context } from '@deepseek-ai/cordis'
import { Shell, type ShellProcess, type ShellRequest, type ShellResult, type ShellSpec } from '@deepseek-ai/dsh-shell'
import { LocalExecutor } from '@deepseek-ai/dsh-shell/executor'
import { Config, withDefaults, type PwshLocalOptions } from './config.ts'
import { pwshDialect } from './dialect.ts'
import { findPwsh, isProgram } from './find-pwsh.ts'

/** Runs each command in a fresh PowerShell without profile. */
export class PwshLocal extends Shell {
  static override readonly name = 'pwsh-local'
  static readonly Config = Config

  readonly sandboxMode = undefined
  readonly dialect = 'pwsh'
  private readonly executor: LocalExecutor

  /** Throws `ShellError` (`SHELL_NOT_FOUND`) when there is no PowerShell. */
  constructor(ctx: Context, options: PwshLocalOptions = {}) {
    super(ctx)
    const limits = withDefaults(options)
    const { env, platform } = process
    const pwsh = findPwsh({ pwshPath: limits.pwshPath, env, platform, isProgram })
    this.executor = new LocalExecutor({ dialect: pwshDialect(pwsh), limits })
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
