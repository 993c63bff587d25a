// Names a misspelt argument. An open object accepts unknown keys, so this is advice for the model, never a violation.
import type { JsonSchema } from './types.ts'

/**
 * One line for each unknown key of an open root that is close to a declared key the value lacks, e.g.
 * `unknown argument "comand"; did you mean "command"?`. Total; an unusable value gives no hints.
 */
export function unknownArgumentHints(schema: JsonSchema, value: unknown): string[] {
  try {
    const { properties, additionalProperties } = schema
    if (properties === undefined || additionalProperties === false) return []
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return []
    const keys = Object.keys(value)
    if (keys.every((key) => Object.hasOwn(properties, key))) return []
    const missing = Object.keys(properties).filter((key) => !Object.hasOwn(value, key))
    return keys.flatMap((key) => {
      const meant = Object.hasOwn(properties, key) ? undefined : closestKey(key, missing)
      return meant === undefined ? [] : [`unknown argument "${key}"; did you mean "${meant}"?`]
    })
  } catch {
    return [] // a raw schema is no object, or a proxy refused to be looked at
  }
}

/** The candidate within a third of the key's length in edits; spelling styles (`filePath`, `file_path`) count as equal. */
export function closestKey(key: string, candidates: readonly string[]): string | undefined {
  const wanted = plainSpelling(key)
  if (wanted.length > MAX_KEY_LENGTH) return undefined
  let best: string | undefined
  let bestDistance = Math.max(1, Math.floor(wanted.length / 3)) + 1
  for (const candidate of candidates) {
    const distance = editDistance(wanted, plainSpelling(candidate))
    // A one-letter key is one edit from every other: only its spelling style may differ.
    if (distance < bestDistance && distance < wanted.length) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

const MAX_KEY_LENGTH = 64

function plainSpelling(key: string): string {
  return key.toLowerCase().replace(/[-_.\s]/g, '')
}

/** Insertions, deletions, substitutions and swaps of neighbours that turn one text into the other. */
function editDistance(from: string, to: string): number {
  if (Math.abs(from.length - to.length) > from.length) return Infinity
  let beforeLast: number[] = []
  let last = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (let row = 1; row <= from.length; row++) {
    const current = [row]
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1]
      let cost = Math.min(at(last, column) + 1, at(current, column - 1) + 1, at(last, column - 1) + (same ? 0 : 1))
      if (from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]) {
        cost = Math.min(cost, at(beforeLast, column - 2) + 1)
      }
      current.push(cost)
    }
    beforeLast = last
    last = current
  }
  return at(last, to.length)
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Infinity
}
