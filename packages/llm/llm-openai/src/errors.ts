// Errors of stored settings and of the config; failures of a request are data, see failures.ts.
import { HarnessError } from '@deepseek-ai/cordis'

/**
 * `SETTINGS_UNREADABLE`: the file is broken or others may read it. `SETTINGS_INVALID`: a value cannot be used.
 * `SETTINGS_SHADOWED`: the config or the environment decides this field. `SETTINGS_UNAVAILABLE`: there is no folder to store in.
 */
export type ProviderSettingsCode =
  | 'SETTINGS_UNREADABLE'
  | 'SETTINGS_INVALID'
  | 'SETTINGS_SHADOWED'
  | 'SETTINGS_UNAVAILABLE'

export class ProviderSettingsError extends HarnessError {
  declare readonly code: ProviderSettingsCode

  constructor(message: string, code: ProviderSettingsCode, options: { cause?: unknown } = {}) {
    super(message, code, options)
  }
}
