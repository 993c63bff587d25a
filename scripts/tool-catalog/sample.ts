// Made-up values that a schema allows: enough to ask pure functions what they would answer. Not a generator of tests.
import type { Json, JsonSchema } from '@deepseek-ai/dsh-tools'

/** Enough branches and choices for any schema that a person would write. */
const MOST = 64

/** A value a choice that the schema leaves, with required properties only, and the same with all of them. */
export function samples(schema: JsonSchema): Json[] {
  const all = [...variants(schema, false), ...variants(schema, true)]
  const texts = new Set<string>()
  return all.filter((value) => !texts.has(JSON.stringify(value)) && texts.add(JSON.stringify(value))).slice(0, MOST)
}

function variants(schema: JsonSchema, whole: boolean): Json[] {
  if (schema.oneOf !== undefined) return schema.oneOf.flatMap((branch) => variants(branch, whole))
  if (schema.const !== undefined) return [schema.const]
  if (schema.enum !== undefined) return schema.enum
  switch (schema.type) {
    case 'object':
      return objects(schema, whole)
    case 'array':
      return arrays(schema, whole)
    case 'boolean':
      return [false, true]
    case 'integer':
    case 'number':
      return [schema.minimum ?? Math.min(1, schema.maximum ?? 1)]
    case 'null':
      return [null]
    case 'string':
    case undefined:
      return [text(schema)]
    default:
      return schema.type satisfies never
  }
}

function text({ examples, minLength = 1, maxLength = minLength }: JsonSchema): string {
  const example = examples?.find((each) => typeof each === 'string')
  return typeof example === 'string' ? example : 'a'.repeat(Math.max(1, Math.min(minLength, maxLength)))
}

function arrays({ items = {}, minItems = 0 }: JsonSchema, whole: boolean): Json[] {
  const length = Math.max(minItems, whole ? 1 : 0)
  if (length === 0) return [[]]
  return variants(items, whole).map((item) => Array<Json>(length).fill(item))
}

/** Each choice of each property beside the first choices of the others: all pairings would be too many. */
function objects({ properties = {}, required = [] }: JsonSchema, whole: boolean): Json[] {
  const choices = Object.entries(properties)
    .filter(([name]) => whole || required.includes(name))
    .map(([name, property]) => [name, variants(property, whole)] as const)
  const first: Record<string, Json> = Object.fromEntries(choices.map(([name, values]) => [name, values[0] ?? null]))
  const others = choices.flatMap(([name, values]) => values.slice(1).map((value) => ({ ...first, [name]: value })))
  return [first, ...others]
}
