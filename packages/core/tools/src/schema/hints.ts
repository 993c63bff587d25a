// Names a misspelt argument. An open object accepts unknown keys, so this is advice for the model, never a violation.
import { editDistance } from '@deepseek-ai/cordis'
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
    const spelling = plainSpelling(candidate)
    if (Math.abs(wanted.length - spelling.length) > wanted.length) continue
    const distance = editDistance(wanted, spelling)
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
