// The configuration of code-runtime-quickjs: its fields, defaults and bounds.
import {
  MAX_DELAY_MS,
  configSchema,
  fillDefaults,
  trueOrFalse,
  wholeNumber,
  type ConfigCheck,
} from '@deepseek-ai/cordis'

export interface CodeRuntimeQuickjsConfig {
  /** Time that a program may compute, waiting not counted. */
  computeMs: number
  /** Time that a program may take, waiting included. Counts from its start, not from the request. */
  maxWallMs: number
  /** Bytes of the JSON of logs and result together. */
  maxOutputBytes: number
  /** Memory of a program. Its engine needs up to 48 MiB beside it. */
  maxMemoryMb: number
  /** Programs that run at once, each on a thread of its own; further ones wait. */
  maxConcurrentRuns: number
  /** Runs after which a thread is replaced by a fresh one. */
  runsPerWorker: number
  /** Start the first thread with the plugin, so that the first program need not wait for it. */
  warm: boolean
}

/** What a composition may write: every field has a default. */
export type CodeRuntimeQuickjsOptions = Partial<CodeRuntimeQuickjsConfig>

const DEFAULTS: CodeRuntimeQuickjsConfig = {
  computeMs: 60_000,
  maxWallMs: 600_000,
  maxOutputBytes: 8 * 1024 * 1024,
  maxMemoryMb: 256,
  maxConcurrentRuns: 2,
  runsPerWorker: 1000,
  warm: true,
}

const CHECKS: Record<keyof CodeRuntimeQuickjsConfig, ConfigCheck> = {
  computeMs: wholeNumber(1, MAX_DELAY_MS),
  maxWallMs: wholeNumber(1, MAX_DELAY_MS),
  maxOutputBytes: wholeNumber(4, 256 * 1024 * 1024),
  maxMemoryMb: wholeNumber(8, 1024),
  maxConcurrentRuns: wholeNumber(1, 64),
  runsPerWorker: wholeNumber(1, 1_000_000),
  warm: trueOrFalse,
}

export function withDefaults(options: CodeRuntimeQuickjsOptions): CodeRuntimeQuickjsConfig {
  return fillDefaults(DEFAULTS, options)
}

export const Config = configSchema('code-runtime-quickjs', DEFAULTS, CHECKS)
