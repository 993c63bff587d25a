// The configuration of bash-local: fields, defaults, and a validation that names the field, what arrived and what was wanted.
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

/** setTimeout takes no more: a larger delay would fire at once. */
const MAX_DELAY_MS = 2_147_483_647

type Check = (value: unknown) => string | undefined

const wholeNumber =
  (minimum: number, maximum: number): Check =>
  (value) =>
    Number.isInteger(value) && (value as number) >= minimum && (value as number) <= maximum
      ? undefined
      : `a whole number from ${minimum} to ${maximum}`
const text: Check = (value) => (typeof value === 'string' && value.trim() !== '' ? undefined : 'a non-blank string')
const texts: Check = (value) =>
  Array.isArray(value) && value.every((each) => text(each) === undefined) ? undefined : 'a list of non-blank strings'

const CHECKS: Record<keyof BashLocalConfig, Check> = {
  shellPath: text,
  cwd: text,
  timeoutMs: wholeNumber(1, MAX_DELAY_MS),
  maxTimeoutMs: wholeNumber(1, MAX_DELAY_MS),
  maxOutputBytes: wholeNumber(1, 256 * 1024 * 1024),
  drainMs: wholeNumber(0, MAX_DELAY_MS),
  graceMs: wholeNumber(0, MAX_DELAY_MS),
  envAllow: texts,
}

export interface ConfigIssue {
  message: string
  path: string[]
}

function issuesOf(options: object): ConfigIssue[] {
  const issues: ConfigIssue[] = []
  for (const [field, value] of Object.entries(options)) {
    const check = Object.hasOwn(CHECKS, field) ? CHECKS[field as keyof BashLocalConfig] : undefined
    if (check === undefined) {
      const known = Object.keys(CHECKS).join(', ')
      issues.push({ message: `bash-local: unknown field "${field}"; known are ${known}`, path: [field] })
      continue
    }
    const wanted = value === undefined ? undefined : check(value)
    if (wanted === undefined) continue
    issues.push({ message: `bash-local: ${field} is ${JSON.stringify(value)}; expected ${wanted}`, path: [field] })
  }
  return issues
}

export function withDefaults(options: BashLocalOptions): BashLocalConfig {
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
  return { ...DEFAULTS, ...given }
}

/** A Standard Schema, as cordis wants it. */
export const Config = {
  '~standard': {
    version: 1 as const,
    vendor: 'dsh',
    validate(input: unknown): { value: BashLocalConfig } | { issues: ConfigIssue[] } {
      if (input !== undefined && input !== null && (typeof input !== 'object' || Array.isArray(input))) {
        const message = `bash-local: the configuration is ${JSON.stringify(input)}; expected an object`
        return { issues: [{ message, path: [] }] }
      }
      const options: BashLocalOptions = input ?? {}
      const issues = issuesOf(options)
      if (issues.length > 0) return { issues }
      return { value: withDefaults(options) }
    },
    // Read by TypeScript only: what may be written, and what the plugin gets.
    types: undefined as { input: BashLocalOptions; output: BashLocalOptions } | undefined,
  },
}
