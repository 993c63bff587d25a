// What every local provider lets a composition set: limits, their defaults and bounds.
import { MAX_DELAY_MS, nonBlankText, nonBlankTexts, wholeNumber, type ConfigCheck } from '@deepseek-ai/cordis'

export interface ExecutorLimits {
  /** Default folder. Omitted: the host's own, as it is at each call. */
  cwd?: string
  /** Applies when a request names none, in milliseconds. */
  timeoutMs: number
  /** Cap of what a request may ask for, in milliseconds. */
  maxTimeoutMs: number
  /** Kept of each stream, in bytes. */
  maxOutputBytes: number
  drainMs: number
  graceMs: number
  /** Exact names of host variables that reach commands although they look like secrets. */
  envAllow: readonly string[]
}

export const EXECUTOR_DEFAULTS: ExecutorLimits = {
  timeoutMs: 120_000,
  maxTimeoutMs: 600_000,
  maxOutputBytes: 65_536,
  drainMs: 500,
  graceMs: 3000,
  envAllow: [],
}

export const EXECUTOR_CHECKS: Record<keyof ExecutorLimits, ConfigCheck> = {
  cwd: nonBlankText,
  timeoutMs: wholeNumber(1, MAX_DELAY_MS),
  maxTimeoutMs: wholeNumber(1, MAX_DELAY_MS),
  maxOutputBytes: wholeNumber(1, 256 * 1024 * 1024),
  drainMs: wholeNumber(0, MAX_DELAY_MS),
  graceMs: wholeNumber(0, MAX_DELAY_MS),
  envAllow: nonBlankTexts,
}
