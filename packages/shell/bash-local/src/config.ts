// The configuration of bash-local: its fields, defaults and bounds.
import {
  MAX_DELAY_MS,
  configSchema,
  fillDefaults,
  nonBlankText,
  nonBlankTexts,
  wholeNumber,
  type ConfigCheck,
} from '@deepseek-ai/cordis'
import type { ExecutorLimits } from '@deepseek-ai/dsh-shell/executor'

export interface BashLocalConfig extends ExecutorLimits {
  /** Path of the shell. Omitted: the first `bash` on the host's PATH. */
  shellPath?: string
}

/** What a composition may write: every field has a default. */
export type BashLocalOptions = Partial<BashLocalConfig>

const DEFAULTS: BashLocalConfig = {
  timeoutMs: 120_000,
  maxTimeoutMs: 600_000,
  maxOutputBytes: 65_536,
  drainMs: 500,
  graceMs: 3000,
  envAllow: [],
}

const CHECKS: Record<keyof BashLocalConfig, ConfigCheck> = {
  shellPath: nonBlankText,
  cwd: nonBlankText,
  timeoutMs: wholeNumber(1, MAX_DELAY_MS),
  maxTimeoutMs: wholeNumber(1, MAX_DELAY_MS),
  maxOutputBytes: wholeNumber(1, 256 * 1024 * 1024),
  drainMs: wholeNumber(0, MAX_DELAY_MS),
  graceMs: wholeNumber(0, MAX_DELAY_MS),
  envAllow: nonBlankTexts,
}

export function withDefaults(options: BashLocalOptions): BashLocalConfig {
  return fillDefaults(DEFAULTS, options)
}

export const Config = configSchema('bash-local', DEFAULTS, CHECKS)
