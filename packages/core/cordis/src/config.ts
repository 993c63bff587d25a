// Configs of plugins: fields with defaults and checks become a schema that names the field, what arrived and what was wanted.

/** What a value should have been, or undefined when it is. */
export type ConfigCheck = (value: unknown) => string | undefined

export interface ConfigIssue {
  readonly message: string
  readonly path: string[]
}

/** A Standard Schema, as a plugin's `Config` is one. */
export interface ConfigSchema<Full extends object> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: 'dsh'
    validate(input: unknown): { value: Full } | { issues: ConfigIssue[] }
    /** Read by TypeScript only: what may be written, and what the plugin gets. */
    readonly types?: { input: Partial<Full>; output: Partial<Full> } | undefined
  }
}

/** setTimeout takes no more: a larger delay would fire at once. */
export const MAX_DELAY_MS = 2_147_483_647

export const wholeNumber =
  (minimum: number, maximum: number): ConfigCheck =>
  (value) =>
    Number.isInteger(value) && (value as number) >= minimum && (value as number) <= maximum
      ? undefined
      : `a whole number from ${minimum} to ${maximum}`

export const trueOrFalse: ConfigCheck = (value) => (typeof value === 'boolean' ? undefined : 'true or false')

export const nonBlankText: ConfigCheck = (value) =>
  typeof value === 'string' && value.trim() !== '' ? undefined : 'a non-blank string'

export const nonBlankTexts: ConfigCheck = (value) =>
  Array.isArray(value) && value.every((each) => nonBlankText(each) === undefined)
    ? undefined
    : 'a list of non-blank strings'

/** A field left out, or undefined, has its default. `who` begins each message. Unknown fields are refused. */
export function configSchema<Full extends object>(
  who: string,
  defaults: Full,
  checks: Record<keyof Full & string, ConfigCheck>,
): ConfigSchema<Full> {
  return {
    '~standard': {
      version: 1,
      vendor: 'dsh',
      validate(input) {
        if (input !== undefined && input !== null && (typeof input !== 'object' || Array.isArray(input))) {
          return { issues: [{ message: `${who}: the configuration is ${told(input)}; expected an object`, path: [] }] }
        }
        const given = input ?? {}
        const issues = issuesOf(who, given, checks)
        return issues.length > 0 ? { issues } : { value: fillDefaults(defaults, given) }
      },
    },
  }
}

/** The fields that are given, over the defaults of the others. */
export function fillDefaults<Full extends object>(defaults: Full, given: Partial<Full>): Full {
  return { ...defaults, ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) }
}

function issuesOf(who: string, given: object, checks: Readonly<Record<string, ConfigCheck>>): ConfigIssue[] {
  const issues: ConfigIssue[] = []
  for (const [field, value] of Object.entries(given)) {
    const check = Object.hasOwn(checks, field) ? checks[field] : undefined
    if (check === undefined) {
      const known = Object.keys(checks).join(', ')
      issues.push({ message: `${who}: unknown field "${field}"; known are ${known}`, path: [field] })
      continue
    }
    const wanted = value === undefined ? undefined : check(value)
    if (wanted === undefined) continue
    issues.push({ message: `${who}: ${field} is ${told(value)}; expected ${wanted}`, path: [field] })
  }
  return issues
}

function told(value: unknown): string {
  return typeof value === 'number' ? String(value) : (JSON.stringify(value) ?? String(value))
}
