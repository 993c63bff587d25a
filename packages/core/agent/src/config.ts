// The config of `ctx.agents`: its fields, defaults and validation.

export interface AgentsConfig {
  /** Retries of one model request after failures that may pass. Default 5. */
  maxRetries: number
  /** Wait before the first retry, doubled for each further one, in milliseconds. Default 500. */
  retryBaseMs: number
  /** Longest wait before a retry, in milliseconds. A provider that asks for more ends the turn. Default 10000. */
  retryMaxMs: number
  /** Part of each wait that is random, 0 to 1. Default 0.25. */
  retryJitter: number
  /** How many calls that may overlap run at once. Default 10. */
  maxParallelCalls: number
  /** Largest text of one tool result in the history, in bytes; a longer one loses its middle. Default 1 MiB. */
  maxResultBytes: number
}

interface Bounds {
  readonly fallback: number
  readonly min: number
  readonly max: number
  readonly integer: boolean
}

const MAX_TIMER_MS = 2 ** 31 - 1 // longer timers fire at once
const FIELDS: Record<keyof AgentsConfig, Bounds> = {
  maxRetries: { fallback: 5, min: 0, max: 1000, integer: true },
  retryBaseMs: { fallback: 500, min: 0, max: MAX_TIMER_MS, integer: false },
  retryMaxMs: { fallback: 10_000, min: 0, max: MAX_TIMER_MS, integer: false },
  retryJitter: { fallback: 0.25, min: 0, max: 1, integer: false },
  maxParallelCalls: { fallback: 10, min: 1, max: 1000, integer: true },
  maxResultBytes: { fallback: 1024 * 1024, min: 1024, max: Number.MAX_SAFE_INTEGER, integer: true },
}

export interface ConfigIssue {
  readonly message: string
  readonly path?: readonly PropertyKey[]
}
export type ValidatedConfig = { readonly value: AgentsConfig } | { readonly issues: readonly ConfigIssue[] }

/** A Standard Schema. */
export const agentsConfig = {
  '~standard': { version: 1, vendor: '@deepseek-ai/dsh-agent', validate },
} as const

function validate(given: unknown): ValidatedConfig {
  if (given !== undefined && given !== null && (typeof given !== 'object' || Array.isArray(given))) {
    return { issues: [{ message: `the agents config must be an object, got ${show(given)}` }] }
  }
  const fields = new Map<string, unknown>(Object.entries(given ?? {}))
  const issues: ConfigIssue[] = []
  const value = {} as Record<keyof AgentsConfig, number>
  for (const [field, bounds] of Object.entries(FIELDS) as [keyof AgentsConfig, Bounds][]) {
    const arrived = fields.get(field) ?? bounds.fallback
    fields.delete(field)
    if (fits(arrived, bounds)) value[field] = arrived
    else issues.push({ path: [field], message: `"${field}" must be ${wanted(bounds)}, got ${show(arrived)}` })
  }
  for (const field of fields.keys()) {
    issues.push({ path: [field], message: `unknown field "${field}"; known: ${Object.keys(FIELDS).join(', ')}` })
  }
  return issues.length > 0 ? { issues } : { value }
}

function fits(value: unknown, { min, max, integer }: Bounds): value is number {
  return typeof value === 'number' && value >= min && value <= max && (!integer || Number.isInteger(value))
}

function wanted({ min, max, integer }: Bounds): string {
  return `${integer ? 'an integer' : 'a number'} from ${min} to ${max}`
}

function show(value: unknown): string {
  return typeof value === 'number' ? String(value) : (JSON.stringify(value) ?? typeof value)
}
