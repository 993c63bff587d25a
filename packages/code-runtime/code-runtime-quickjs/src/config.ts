// The configuration of code-runtime-quickjs: fields, defaults, and a validation that names the field, what arrived and what was wanted.

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

/** setTimeout takes no more: a larger delay would fire at once. */
const MAX_DELAY_MS = 2_147_483_647

type Check = (value: unknown) => string | undefined

const wholeNumber =
  (minimum: number, maximum: number): Check =>
  (value) =>
    Number.isInteger(value) && (value as number) >= minimum && (value as number) <= maximum
      ? undefined
      : `a whole number from ${minimum} to ${maximum}`
const flag: Check = (value) => (typeof value === 'boolean' ? undefined : 'true or false')

const CHECKS: Record<keyof CodeRuntimeQuickjsConfig, Check> = {
  computeMs: wholeNumber(1, MAX_DELAY_MS),
  maxWallMs: wholeNumber(1, MAX_DELAY_MS),
  maxOutputBytes: wholeNumber(4, 256 * 1024 * 1024),
  maxMemoryMb: wholeNumber(8, 1024),
  maxConcurrentRuns: wholeNumber(1, 64),
  runsPerWorker: wholeNumber(1, 1_000_000),
  warm: flag,
}

export interface ConfigIssue {
  message: string
  path: string[]
}

const told = (value: unknown): string =>
  typeof value === 'number' ? String(value) : (JSON.stringify(value) ?? String(value))

function issuesOf(options: object): ConfigIssue[] {
  const issues: ConfigIssue[] = []
  for (const [field, value] of Object.entries(options)) {
    const check = Object.hasOwn(CHECKS, field) ? CHECKS[field as keyof CodeRuntimeQuickjsConfig] : undefined
    if (check === undefined) {
      const known = Object.keys(CHECKS).join(', ')
      issues.push({ message: `code-runtime-quickjs: unknown field "${field}"; known are ${known}`, path: [field] })
      continue
    }
    const wanted = value === undefined ? undefined : check(value)
    if (wanted === undefined) continue
    issues.push({ message: `code-runtime-quickjs: ${field} is ${told(value)}; expected ${wanted}`, path: [field] })
  }
  return issues
}

export function withDefaults(options: CodeRuntimeQuickjsOptions): CodeRuntimeQuickjsConfig {
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
  return { ...DEFAULTS, ...given }
}

/** A Standard Schema, as cordis wants it. */
export const Config = {
  '~standard': {
    version: 1 as const,
    vendor: 'dsh',
    validate(input: unknown): { value: CodeRuntimeQuickjsConfig } | { issues: ConfigIssue[] } {
      if (input !== undefined && input !== null && (typeof input !== 'object' || Array.isArray(input))) {
        const message = `code-runtime-quickjs: the configuration is ${told(input)}; expected an object`
        return { issues: [{ message, path: [] }] }
      }
      const options: CodeRuntimeQuickjsOptions = input ?? {}
      const issues = issuesOf(options)
      if (issues.length > 0) return { issues }
      return { value: withDefaults(options) }
    },
    // Read by TypeScript only: what may be written, and what the plugin gets.
    types: undefined as { input: CodeRuntimeQuickjsOptions; output: CodeRuntimeQuickjsOptions } | undefined,
  },
}
