// Writes the code that checks, copies and freezes a value of one schema in a single pass. A short cut, never an authority: what it
// does not take goes through `snapshotJson` and the closures of `validate.ts`, which alone say what is wrong. Where code may not be
// generated, everything does.
import { attemptSnapshot, copyItems, DEFAULT_MAX_DEPTH, hasOnlyPlainKeys, JsonProblem } from '../json.ts'
import type { Json } from '../presentation.ts'
import type { JsonSchema } from './types.ts'
import type { Visit } from './visit.ts'

/**
 * A frozen, detached copy of a value that is lossless JSON and matches; undefined for anything else, and for a few lawful values that
 * are too rare to write code for. May throw what an accessor of the value throws.
 */
export type MatchingSnapshot = (value: unknown) => Json | undefined

/** What generated code calls. */
const RUNTIME = {
  freeze: Object.freeze,
  keysOf: Object.keys,
  hasOnlyPlainKeys,
  copyItems,
  isInteger: Number.isInteger,
  isFinite: Number.isFinite,
  isRecord: (value: unknown): boolean =>
    typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype,
  isNegativeZero: (value: unknown): boolean => Object.is(value, -0),
  /** A node that no code is written for: the plain copy, then the closure of `validate.ts`. */
  plainly: (value: unknown, visit: Visit | undefined, maxDepth: number): Json | undefined => {
    const copy = attemptSnapshot(value, { maxDepth })
    return copy instanceof JsonProblem || visit?.(copy, undefined) === false ? undefined : copy
  },
}

/** Larger schemas stay with the closures, so that no definition can make the code grow without bound. */
const MAX_NODES = 512
const MAX_NESTING = 64
/** Objects with more properties than this seldom have all of them. */
const MAX_LITERAL_KEYS = 32

/** None where this process may not generate code, and for schemas too large to be worth it. `compile` makes closures for single nodes. */
export function generateSnapshot(
  schema: JsonSchema,
  compile: (schema: JsonSchema) => Visit,
): MatchingSnapshot | undefined {
  const writer = new SnapshotWriter(compile)
  try {
    const entry = writer.copier(schema, 0)
    const text = `'use strict'\nconst { ${Object.keys(RUNTIME).join(', ')} } = runtime\n${writer.functions.join('\n')}\nreturn ${entry}`
    // oxlint-disable-next-line typescript/no-implied-eval -- made of literals of this file and JSON.stringify of schema keys alone
    const make = new Function('runtime', 'visits', text) as (
      runtime: object,
      visits: readonly Visit[],
    ) => MatchingSnapshot
    return make(RUNTIME, writer.visits)
  } catch {
    return undefined // refused by the process or by the limits above
  }
}

class SnapshotWriter {
  readonly functions: string[] = []
  readonly visits: Visit[] = []
  private readonly compile: (schema: JsonSchema) => Visit
  private nodes = 0

  constructor(compile: (schema: JsonSchema) => Visit) {
    this.compile = compile
  }

  /** The name of a function from a value to its copy, or to undefined. `level` counts the containers around the node. */
  copier(schema: JsonSchema, level: number): string {
    if (++this.nodes > MAX_NODES || level > MAX_NESTING) throw new RangeError('too large to write code for')
    const body = this.body(schema, level)
    const name = `copy${this.functions.length}`
    this.functions.push(`function ${name}(value) {\n${body}\n}`)
    return name
  }

  private body(schema: JsonSchema, level: number): string {
    const test = scalarTest(schema, 'value')
    if (test !== undefined) return `  return ${test} ? value : undefined`
    if (schema.type === 'object' && !Object.hasOwn(schema.properties ?? {}, '__proto__'))
      return this.object(schema, level)
    if (schema.type === 'array') return this.array(schema, level)
    const maxDepth = DEFAULT_MAX_DEPTH - level
    if (isUnconstrained(schema)) return `  return plainly(value, undefined, ${maxDepth})`
    return `  return plainly(value, visits[${this.visits.push(this.compile(schema)) - 1}], ${maxDepth})`
  }

  /** Two ways: a literal for the keys just as they were declared, which is the usual case, and a loop for any others. */
  private object(schema: JsonSchema, level: number): string {
    const { properties = {}, required = [], additionalProperties } = schema
    const fields = Object.keys(properties).map((key): Field => {
      const property = properties[key] as JsonSchema
      const isScalar = scalarTest(property, '') !== undefined
      return { name: JSON.stringify(key), property, copier: isScalar ? undefined : this.copier(property, level + 1) }
    })
    const cases = fields.map(({ name, property, copier }) => {
      const counted = required.includes(JSON.parse(name) as string) ? 'required++; ' : ''
      return `      case ${name}: ${refusal('item', property, copier)} ${counted}break`
    })
    // A key of this name would set the prototype of the copy.
    const other =
      additionalProperties === false
        ? 'return undefined'
        : `if (key === '__proto__') return undefined; item = plainly(item, undefined, ${DEFAULT_MAX_DEPTH - level - 1}); if (item === undefined) return undefined`
    return `  if (!isRecord(value)) return undefined
${fields.length > 0 && fields.length <= MAX_LITERAL_KEYS ? literal(fields) : ''}  const copy = {}
  let count = 0, required = 0
  for (const key in value) {
    count++
    let item = value[key]
    switch (key) {
${cases.join('\n')}
      default: ${other}
    }
    copy[key] = item
  }
  return required === ${required.length} && hasOnlyPlainKeys(value, count) ? freeze(copy) : undefined`
  }

  private array(schema: JsonSchema, level: number): string {
    const { items = {}, minItems = 0, maxItems } = schema
    const copier = scalarTest(items, '') === undefined ? this.copier(items, level + 1) : undefined
    const bounds = [`items.length < ${minItems}`, ...(maxItems === undefined ? [] : [`items.length > ${maxItems}`])]
    return `  const items = copyItems(value)
  if (items === undefined || ${bounds.join(' || ')}) return undefined
  for (let index = 0; index < items.length; index++) {
    let item = items[index]
    ${refusal('item', items, copier)}
${copier === undefined ? '' : '    items[index] = item\n'}  }
  return freeze(items)`
  }
}

interface Field {
  /** The key as a literal of the code. */
  readonly name: string
  readonly property: JsonSchema
  /** None for a scalar that is tested in place. */
  readonly copier: string | undefined
}

function literal(fields: readonly Field[]): string {
  const isDeclared = fields.map(({ name }, index) => `keys[${index}] === ${name}`).join(' && ')
  const reads = fields.map(
    ({ name, property, copier }, index) =>
      `    let item${index} = value[${name}]; ${refusal(`item${index}`, property, copier)}`,
  )
  return `  const keys = keysOf(value)
  if (keys.length === ${fields.length} && ${isDeclared}) {
${reads.join('\n')}
    return hasOnlyPlainKeys(value, ${fields.length}) ? freeze({ ${fields.map(({ name }, index) => `${name}: item${index}`).join(', ')} }) : undefined
  }
`
}

/** Returns from the function unless the variable holds what the node allows; a container is replaced by its copy. */
function refusal(variable: string, schema: JsonSchema, copier: string | undefined): string {
  return copier === undefined
    ? `if (!(${scalarTest(schema, variable)})) return undefined;`
    : `${variable} = ${copier}(${variable}); if (${variable} === undefined) return undefined;`
}

/** The test of a scalar without bounds; others are left to the closures. */
function scalarTest(schema: JsonSchema, variable: string): string | undefined {
  if (BOUNDS.some((key) => schema[key] !== undefined)) return undefined
  const literals = literalTest(schema, variable)
  if (literals === undefined) return undefined
  switch (schema.type) {
    case 'string':
    case 'boolean':
      return `typeof ${variable} === '${schema.type}'${literals}`
    case 'null':
      return `${variable} === null${literals}`
    case 'number':
      return `typeof ${variable} === 'number' && isFinite(${variable}) && (${variable} !== 0 || !isNegativeZero(${variable}))${literals}`
    case 'integer':
      return `isInteger(${variable}) && (${variable} !== 0 || !isNegativeZero(${variable}))${literals}`
    default:
      return undefined
  }
}

const BOUNDS = ['minimum', 'maximum', 'minLength', 'maxLength', 'pattern'] as const
/** Longer lists are left to the closures. */
const MAX_LITERALS = 16

/** What `const` and `enum` add to a test. */
function literalTest(schema: JsonSchema, variable: string): string | undefined {
  const lists = [schema.const === undefined ? undefined : [schema.const], schema.enum].filter(
    (list) => list !== undefined,
  )
  if (lists.some((list) => list.length > MAX_LITERALS)) return undefined
  const isOneOf = (list: readonly Json[]): string =>
    list.map((literal) => `${variable} === ${JSON.stringify(literal)}`).join(' || ')
  return lists.map((list) => ` && (${isOneOf(list)})`).join('')
}

function isUnconstrained(schema: JsonSchema): boolean {
  return schema.type === undefined && schema.oneOf === undefined
}
