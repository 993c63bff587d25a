// The compiled form of one schema node, and how its closures look into a record.
import type { Report } from './report.ts'

/** True when the value matches. With a report it looks on after a mismatch and adds at least one line for a false answer. */
export type Visit = (value: unknown, report: Report | undefined) => boolean

export type Fields = Readonly<Record<string, unknown>>

export function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** An own property or `undefined`: an inherited `toString` is not an argument. */
export function own(value: Fields, key: string): unknown {
  return Object.hasOwn(value, key) ? value[key] : undefined
}
