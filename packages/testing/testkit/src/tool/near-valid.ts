// Arguments that break a schema in exactly one place, made from arguments that keep it.
import { validatorFor, type Json, type JsonObject, type JsonSchema } from '@deepseek-ai/dsh-tools'

export interface Mutation {
  /** What was changed, e.g. `drops "path"`. */
  readonly what: string
  readonly args: Json
}

/** Longer texts than this are not made to break a bound. */
const MAX_MADE = 1_000_000

/** Every one-place change of `valid` that the schema refuses, in a fixed order. */
export function nearValid(schema: JsonSchema, valid: Json): Mutation[] {
  const validator = validatorFor(schema)
  return changes(schema, valid, '').filter(({ args }) => !validator.check(args))
}

function changes(schema: JsonSchema, value: Json, path: string): Mutation[] {
  const here = path === '' ? 'the arguments' : `"${path}"`
  const own = replacements(schema, value).map(([what, args]): Mutation => ({ what: `${here}: ${what}`, args }))
  if (schema.oneOf !== undefined) {
    const branch = schema.oneOf.find((each) => validatorFor(each).check(value))
    return branch === undefined ? own : [...own, ...changes(branch, value, path)]
  }
  if (Array.isArray(value)) return [...own, ...itemChanges(schema, value, path)]
  return isObject(value) ? [...own, ...propertyChanges(schema, value, path)] : own
}

/** Other values in the place of this one. Some may be valid after all; the caller asks the validator. */
function replacements(schema: JsonSchema, value: Json): [what: string, value: Json][] {
  const others: [string, Json][] = [
    ['null', null],
    ['a string instead', 'testkit'],
    ['a number instead', 0.5],
    ['a boolean instead', true],
    ['an array instead', []],
    ['an object instead', {}],
  ]
  return [...others, ...literalReplacements(schema), ...boundReplacements(schema, value)]
}

function literalReplacements({ const: only, enum: allowed, pattern }: JsonSchema): [string, Json][] {
  const literals = only === undefined ? (allowed ?? []) : [only]
  const made: [string, Json][] =
    literals.length === 0 ? [] : literals.slice(0, 1).map((each) => ['another literal', other(each)])
  if (pattern !== undefined)
    for (const text of ['', ' ', '\u0001', 'testkit', '☃']) made.push(['another pattern', text])
  return made
}

function other(literal: Json): Json {
  if (typeof literal === 'string') return `${literal}-testkit`
  return typeof literal === 'number' ? literal + 0.5 : literal !== true
}

function boundReplacements(schema: JsonSchema, value: Json): [string, Json][] {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems } = schema
  const made: [string, Json][] = []
  if (minimum !== undefined) made.push(['below the minimum', minimum - Math.max(1, Math.abs(minimum) * 1e-9)])
  if (maximum !== undefined) made.push(['above the maximum', maximum + Math.max(1, Math.abs(maximum) * 1e-9)])
  if (minLength !== undefined && minLength > 0) made.push(['too short', 'x'.repeat(Math.min(minLength - 1, MAX_MADE))])
  if (maxLength !== undefined && maxLength < MAX_MADE) made.push(['too long', 'x'.repeat(maxLength + 1)])
  if (!Array.isArray(value)) return made
  const items = value as readonly Json[]
  if (minItems !== undefined && minItems > 0) made.push(['too few items', items.slice(0, minItems - 1)])
  if (maxItems !== undefined && maxItems < 10_000) {
    const filler = items[0] ?? null
    made.push(['too many items', Array.from({ length: maxItems + 1 }, (_, index) => items[index] ?? filler)])
  }
  return made
}

function itemChanges(schema: JsonSchema, items: readonly Json[], path: string): Mutation[] {
  const { items: itemSchema } = schema
  const first = items[0]
  if (itemSchema === undefined || first === undefined) return []
  return changes(itemSchema, first, `${path}[0]`).map(({ what, args }) => ({ what, args: [args, ...items.slice(1)] }))
}

function propertyChanges(schema: JsonSchema, value: JsonObject, path: string): Mutation[] {
  const made: Mutation[] = []
  for (const key of schema.required ?? []) {
    if (Object.hasOwn(value, key)) made.push({ what: `drops "${join(path, key)}"`, args: withProperty(value, key) })
  }
  if (schema.additionalProperties === false) {
    made.push({ what: `adds "${join(path, 'testkitExtra')}"`, args: withProperty(value, 'testkitExtra', true) })
  }
  for (const [key, each] of Object.entries(schema.properties ?? {})) {
    const item = Object.hasOwn(value, key) ? value[key] : undefined
    if (item === undefined) continue
    for (const { what, args } of changes(each, item, join(path, key)))
      made.push({ what, args: withProperty(value, key, args) })
  }
  return made
}

function join(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`
}

/** A copy with one property changed, or left out. */
export function withProperty(value: JsonObject, key: string, item?: Json): JsonObject {
  const rest = Object.entries(value).filter(([name]) => name !== key)
  return Object.fromEntries(item === undefined ? rest : [...rest, [key, item]])
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
