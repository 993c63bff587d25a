// From a JSON Schema of the supported subset to values that match it, made by fast-check.
import * as fc from 'fast-check'
import { validatorFor, type Json, type JsonSchema } from '@deepseek-ai/dsh-tools'
import type { ArbitraryOverrides } from './options.ts'

/** No value was found that a schema accepts, or that a replacement gives and the schema accepts. */
export class UnfillableSchema extends Error {}

/** Draws that may miss in a row before a schema counts as unfillable; a filter of fast-check would look for ever. */
const MAX_MISSES = 2000

/** Values of a schema. `overrides` replace what is made for the paths they name; so do not examples of the schema. */
export function valuesOf(schema: JsonSchema, overrides: ArbitraryOverrides = {}): fc.Arbitrary<Json> {
  return fill(schema, '', overrides)
}

function fill(schema: JsonSchema, path: string, overrides: ArbitraryOverrides): fc.Arbitrary<Json> {
  const replacement = Object.hasOwn(overrides, path) ? overrides[path] : undefined
  const made = (replacement ?? withExamples(schema, node(schema, path, overrides))) as fc.Arbitrary<Json>
  return matching(made, schema, path)
}

/** What an author calls an example is worth a try among the made-up values. */
function withExamples(schema: JsonSchema, made: fc.Arbitrary<Json>): fc.Arbitrary<Json> {
  const examples = [...(schema.examples ?? []), ...(schema.default === undefined ? [] : [schema.default])]
  const fit = examples.filter((example) => validatorFor(schema).check(example))
  return fit.length === 0 ? made : fc.oneof({ arbitrary: made, weight: 3 }, fc.constantFrom(...fit))
}

function matching(made: fc.Arbitrary<Json>, schema: JsonSchema, path: string): fc.Arbitrary<Json> {
  const validator = validatorFor(schema)
  let misses = 0
  return made.filter((value) => {
    if (validator.check(value)) {
      misses = 0
      return true
    }
    if (++misses < MAX_MISSES) return false
    const why = validator.violations(value, path).join('; ')
    throw new UnfillableSchema(`found no value for "${path}" that its schema accepts (${why}); name one in arbitraries`)
  })
}

function node(schema: JsonSchema, path: string, overrides: ArbitraryOverrides): fc.Arbitrary<Json> {
  if (schema.oneOf !== undefined)
    return fc.oneof(...schema.oneOf.map((branch) => fill(branch, path, without(overrides, path))))
  if (schema.const !== undefined) return fc.constant(schema.const)
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum)
  switch (schema.type) {
    case 'string':
      return text(schema)
    case 'integer':
      return integer(schema)
    case 'number':
      return number(schema)
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'array':
      return list(schema, path, overrides)
    case 'object':
      return record(schema, path, overrides)
    case undefined:
      return anyJson()
    default:
      return schema.type satisfies never
  }
}

/** A replacement stands for the whole union, not for each branch again. */
function without(overrides: ArbitraryOverrides, path: string): ArbitraryOverrides {
  const { [path]: _, ...rest } = overrides
  return rest
}

function text({ minLength = 0, maxLength, pattern }: JsonSchema): fc.Arbitrary<string> {
  if (pattern !== undefined) return patterned(pattern, minLength)
  // Each unit is one code point, which is what bounds count.
  const bounds = { minLength, ...(maxLength === undefined ? {} : { maxLength }) }
  return fc.oneof(
    { arbitrary: fc.string({ ...bounds, unit: 'grapheme-ascii' }), weight: 3 },
    fc.string({ ...bounds, unit: 'binary' }),
  )
}

function patterned(pattern: string, minLength: number): fc.Arbitrary<string> {
  let matches: fc.Arbitrary<string>
  try {
    matches = fc.stringMatching(new RegExp(pattern, 'u'))
  } catch {
    // fast-check does not know every construct, look-around for one; among plain texts some may match.
    return fc.string({ minLength, unit: 'grapheme-ascii' })
  }
  // An unanchored pattern stays matched in a longer text; where it does not, the check of the value drops it.
  if (minLength <= 1) return matches
  return fc.oneof(
    matches,
    fc.tuple(matches, fc.string({ minLength, unit: 'grapheme-ascii' })).map(([head, tail]) => head + tail),
  )
}

function integer({ minimum, maximum }: JsonSchema): fc.Arbitrary<number> {
  const min = Math.ceil(Math.max(minimum ?? -Infinity, Number.MIN_SAFE_INTEGER))
  const max = Math.floor(Math.min(maximum ?? Infinity, Number.MAX_SAFE_INTEGER))
  if (min > max) return fc.constantFrom(...[minimum, maximum].filter((bound) => bound !== undefined))
  return fc.oneof(fc.integer({ min, max }), near(min, max)).map((value) => value + 0)
}

/** Small numbers within bounds: what most calls use. */
function near(min: number, max: number): fc.Arbitrary<number> {
  const from = min > 0 ? min : max < 0 ? max - Math.min(max - min, 100) : Math.max(min, -10)
  return fc.integer({ min: Math.max(min, from), max: Math.min(max, Math.max(from, 0) + 100) })
}

function number({ minimum, maximum }: JsonSchema): fc.Arbitrary<number> {
  const bounds = {
    ...(minimum === undefined ? {} : { min: minimum }),
    ...(maximum === undefined ? {} : { max: maximum }),
  }
  const real = fc.double({ ...bounds, noNaN: true, noDefaultInfinity: true })
  const whole = integer({
    ...(minimum === undefined ? {} : { minimum }),
    ...(maximum === undefined ? {} : { maximum }),
  })
  // -0 is no JSON; adding 0 makes it 0.
  return fc.oneof(real, whole).map((value) => value + 0)
}

function list(
  { items, minItems = 0, maxItems }: JsonSchema,
  path: string,
  overrides: ArbitraryOverrides,
): fc.Arbitrary<Json> {
  const item = items === undefined ? anyJson() : fill(items, `${path}[]`, overrides)
  return fc.array(item, { minLength: minItems, maxLength: Math.min(maxItems ?? Infinity, minItems + 5) })
}

function record(schema: JsonSchema, path: string, overrides: ArbitraryOverrides): fc.Arbitrary<Json> {
  const properties = Object.entries(schema.properties ?? {})
  const required = new Set(schema.required)
  const optional = fc.subarray(properties.map(([key]) => key).filter((key) => !required.has(key)))
  const values = properties.map(([key, each]) => fill(each, path === '' ? key : `${path}.${key}`, overrides))
  return fc.tuple(optional, fc.tuple(...values)).map(([chosen, filled]) => {
    const present = properties.flatMap(([key], index): [string, Json][] =>
      required.has(key) || chosen.includes(key) ? [[key, filled[index] as Json]] : [],
    )
    return Object.fromEntries(present) // defines own properties, so that a key named __proto__ is only a key
  })
}

function anyJson(): fc.Arbitrary<Json> {
  // Through JSON text, since -0 and a null prototype are no JSON.
  return fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.parse(JSON.stringify(value)) as Json)
}
