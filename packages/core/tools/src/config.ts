// What a composition may set of the registry.
import type { ToolMode } from './types.ts'

export interface ToolRegistryConfig {
  /** How tools are shown to models where no agent chooses for itself. Default `native`. */
  mode?: ToolMode
  /** How many concurrency-safe calls of one program may overlap. Default 10. */
  maxParallelSubCalls?: number
  /** How long a body may go on after its cancellation or deadline before its call is given up, in milliseconds. Default 10000. */
  abandonAfterMs?: number
  /** Upper bound of what a model reads of one `run_code` call, in UTF-8 bytes. Default 50000. */
  maxProgramOutputBytes?: number
}

export type ResolvedConfig = Required<ToolRegistryConfig>

const MODES: readonly string[] = ['native', 'code', 'both'] satisfies ToolMode[]

/** Fills in defaults. Throws `TypeError` naming the field, what arrived and what was wanted. */
export function resolveConfig(config: ToolRegistryConfig = {}): ResolvedConfig {
  const { mode = 'native', ...numbers } = config
  if (!MODES.includes(mode))
    throw new TypeError(`tools: mode must be native, code or both (got ${JSON.stringify(mode)})`)
  const unknown = Object.keys(numbers).find((key) => !Object.hasOwn(DEFAULTS, key))
  if (unknown !== undefined) {
    throw new TypeError(`tools: there is no setting "${unknown}"; there are mode, ${Object.keys(DEFAULTS).join(', ')}`)
  }
  return {
    mode,
    maxParallelSubCalls: positiveInteger('maxParallelSubCalls', config.maxParallelSubCalls),
    abandonAfterMs: positiveInteger('abandonAfterMs', config.abandonAfterMs),
    maxProgramOutputBytes: positiveInteger('maxProgramOutputBytes', config.maxProgramOutputBytes),
  }
}

const DEFAULTS = { maxParallelSubCalls: 10, abandonAfterMs: 10_000, maxProgramOutputBytes: 50_000 }

function positiveInteger(field: keyof typeof DEFAULTS, value: unknown): number {
  if (value === undefined) return DEFAULTS[field]
  if (typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= 2_147_483_647) return value
  throw new TypeError(`${field} must be a positive integer (got ${JSON.stringify(value) ?? typeof value})`)
}
