// The configuration of pwsh-local: what every executor has, and where PowerShell is.
import { configSchema, fillDefaults, nonBlankText } from '@deepseek-ai/cordis'
import { EXECUTOR_CHECKS, EXECUTOR_DEFAULTS, type ExecutorLimits } from '@deepseek-ai/dsh-shell/executor'

export interface PwshLocalConfig extends ExecutorLimits {
  /** Path of PowerShell. Omitted: PowerShell 7 where it is installed or on PATH, otherwise Windows PowerShell. */
  pwshPath?: string
}

/** What a composition may write: every field has a default. */
export type PwshLocalOptions = Partial<PwshLocalConfig>

export const Config = configSchema<PwshLocalConfig>('pwsh-local', EXECUTOR_DEFAULTS, {
  ...EXECUTOR_CHECKS,
  pwshPath: nonBlankText,
})

export function withDefaults(options: PwshLocalOptions): PwshLocalConfig {
  return fillDefaults<PwshLocalConfig>(EXECUTOR_DEFAULTS, options)
}
