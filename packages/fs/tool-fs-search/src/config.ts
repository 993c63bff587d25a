// The configuration of the search tools: its fields, defaults and bounds.
import { configSchema, fillDefaults, wholeNumber, type ConfigSchema } from '@deepseek-ai/cordis'

export interface SearchConfig {
  /** Results of `grep` in one page, where a call names no limit. Default 250. */
  grepLimit: number
  /** Paths of `glob` in one page, where a call names no limit. Default 100. */
  globLimit: number
  /** Bytes of one line; longer ones are cut around the first match. Default 500. */
  maxLineLength: number
  /** Matches up to which totals are exact; of more, only that there are more is told. Default 10,000. */
  countUpTo: number
  /** Files of more bytes are not searched by `grep`, and that is said. Default 0: no bound. */
  maxFileBytes: number
  /** Of one call, in milliseconds; what was found by then is the result. Default 30,000. */
  timeoutMs: number
}

const DEFAULTS: SearchConfig = {
  grepLimit: 250,
  globLimit: 100,
  maxLineLength: 500,
  countUpTo: 10_000,
  maxFileBytes: 0,
  timeoutMs: 30_000,
}

/** Of one page, whatever a call asks for. */
export const MAX_LIMIT = 10_000

export const Config: ConfigSchema<SearchConfig> = configSchema('tool-fs-search', DEFAULTS, {
  grepLimit: wholeNumber(1, MAX_LIMIT),
  globLimit: wholeNumber(1, MAX_LIMIT),
  maxLineLength: wholeNumber(40, 10_000),
  countUpTo: wholeNumber(1, 100_000),
  maxFileBytes: wholeNumber(0, Number.MAX_SAFE_INTEGER),
  timeoutMs: wholeNumber(1, 600_000),
})

export function withDefaults(options: Partial<SearchConfig>): SearchConfig {
  return fillDefaults(DEFAULTS, options)
}
