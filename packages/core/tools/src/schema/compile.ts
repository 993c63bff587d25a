// From the schema DSL to the JSON Schema that models are told: one cheap walk that stops at the first author error.
// Nothing is compiled for validation here; `validate.ts` does that on first use.
import { JsonSchemaError } from '../errors.ts'
import { hasOnlyPlainKeys, snapshotJson } from '../json.ts'
import { markCompiled } from './assert.ts'
import {
  annotationProblem,
  combinationProblems,
  CONSTRAINTS,
  constraintProblem,
  isAnnotation,
  isJsonType,
  isKeyword,
  isPlainRecord,
  isScalar,
  MAX_SCHEMA_DEPTH,
  type JsonType,
} from './keywords.ts'
import type { JsonSchema, ParameterSchemaSpec, ValueSchemaSpec } from './types.ts'

export { assertObjectJsonSchema, assertSupportedJsonSchema, type AssertSchemaOptions } from './assert.ts'

type SpecNode = Readonly<Record<string, unknown>>

/** A JSON Schema under construction. */
type Draft = Record<string, unknown>

/** The schema of a tool's arguments: an open object. Frozen. Throws `JsonSchemaError` at the first mistake of the author. */
export function compileParameters(spec: ParameterSchemaSpec): JsonSchema {
  const root: Draft = { type: 'object' }
  compileProperties(spec, new Place('parameters'), root)
  markCompiled(root)
  return Object.freeze(root)
}

/** The schema of a value with any root. Frozen. Throws `JsonSchemaError` at the first mistake of the author. */
export function compileValueSchema(spec: ValueSchemaSpec): JsonSchema {
  const root: JsonSchema = draftNode(spec, new Place('schema'), false)
  markCompiled(root)
  return Object.freeze(root)
}

/** Where the walk is. Paths become text only when something is wrong, since a thousand tools are defined in one breath. */
class Place {
  private readonly trail: string[]
  private readonly ancestors: unknown[] = []

  constructor(root: string) {
    this.trail = [root]
  }

  /** Only ancestors count: a node may be shared between siblings. Paired with `leave`. */
  enter(node: unknown): void {
    if (this.ancestors.includes(node)) this.fail(' is circular')
    if (this.ancestors.length >= MAX_SCHEMA_DEPTH) this.fail(` is nested deeper than ${MAX_SCHEMA_DEPTH} levels`)
    this.ancestors.push(node)
  }

  leave(): void {
    this.ancestors.pop()
  }

  /** Steps down one or two path segments for the time of a visit; paired with `up`. */
  down(...segments: readonly string[]): void {
    this.trail.push(...segments)
  }

  up(segments = 1): void {
    this.trail.length -= segments
  }

  get path(): string {
    return this.trail.join('')
  }

  fail(problem: string): never {
    throw new JsonSchemaError([this.path + problem])
  }
}

/** Fills `properties` and `required` of `target`, required keys in declaration order. */
function compileProperties(map: unknown, place: Place, target: Draft): void {
  if (!isPlainRecord(map)) place.fail(' must be an object of value schemas')
  place.enter(map)
  const properties: Draft = {}
  const required: string[] = []
  for (const key of ownKeys(map, place)) {
    const node = map[key]
    place.down('.', key)
    define(properties, key, compileNode(node, place, true))
    place.up(2)
    if ((node as SpecNode).required === true) required.push(key)
  }
  place.leave()
  target.properties = Object.freeze(properties)
  if (required.length > 0) target.required = Object.freeze(required)
}

function compileNode(spec: unknown, place: Place, isProperty: boolean): Draft {
  return Object.freeze(draftNode(spec, place, isProperty))
}

function draftNode(spec: unknown, place: Place, isProperty: boolean): Draft {
  if (!isPlainRecord(spec)) place.fail(' must be a value schema object')
  place.enter(spec)
  const draft: Draft = {}
  const type = spec.oneOf === undefined ? compileType(spec, place, draft) : compileOneOf(spec, place, draft)
  let bounded = false
  for (const key of ownKeys(spec, place)) {
    const value = spec[key]
    if (value === undefined || Object.hasOwn(draft, key) || key === 'type') continue
    if (key === 'required') checkRequired(value, place, isProperty)
    else if (isAnnotation(key)) setKeyword(draft, key, value, annotationProblem(key, value), place)
    else {
      if (type === undefined || !CONSTRAINTS[type].has(key)) place.fail(`.${key} ${misplaced(key, spec)}`)
      setKeyword(draft, key, value, literalProblem(key, value, type), place)
      bounded = true
    }
  }
  // The path is text only once there is something to say.
  if (bounded && combinationProblems(draft, '').length > 0) {
    throw new JsonSchemaError(combinationProblems(draft, place.path).slice(0, 1))
  }
  place.leave()
  return draft
}

/** Compiles what the type nests and returns the type whose constraints apply; none for `json`. */
function compileType(spec: SpecNode, place: Place, draft: Draft): JsonType | undefined {
  const { type } = spec
  if (type === 'json') return undefined
  if (!isJsonType(type)) {
    place.fail('.type must be string/number/integer/boolean/null/array/object/json, or use oneOf')
  }
  draft.type = type
  if (type === 'object') {
    if (spec.properties !== undefined) {
      place.down('.properties')
      compileProperties(spec.properties, place, draft)
      place.up()
    }
    if (typeof spec.additionalProperties !== 'boolean') {
      place.fail('.additionalProperties must be explicitly true or false')
    }
    draft.additionalProperties = spec.additionalProperties
  } else if (type === 'array' && spec.items !== undefined) {
    place.down('.items')
    draft.items = compileNode(spec.items, place, false)
    place.up()
  }
  return type
}

function compileOneOf(spec: SpecNode, place: Place, draft: Draft): undefined {
  if (spec.type !== undefined) place.fail(' cannot declare both type and oneOf')
  const branches = spec.oneOf
  if (!Array.isArray(branches) || branches.length < 2) {
    place.fail('.oneOf must be an array of at least two value schemas')
  }
  const compiled: Draft[] = []
  for (let index = 0; index < branches.length; index++) {
    place.down(`.oneOf[${index}]`)
    compiled.push(compileNode(branches[index], place, false))
    place.up()
  }
  draft.oneOf = Object.freeze(compiled)
}

function checkRequired(value: unknown, place: Place, isProperty: boolean): void {
  if (!isProperty) place.fail('.required is not supported by the value schema DSL')
  if (value !== true) place.fail('.required must be true when present')
}

function literalProblem(key: string, value: unknown, type: JsonType): string | undefined {
  if (key === 'enum' && !(Array.isArray(value) && value.length > 0 && value.every(isScalar))) {
    return 'must be a non-empty array of scalar values'
  }
  return constraintProblem(key, value, type)
}

function setKeyword(draft: Draft, key: string, value: unknown, problem: string | undefined, place: Place): void {
  if (problem !== undefined) place.fail(`.${key} ${problem}`)
  draft[key] = typeof value === 'object' ? snapshotJson(value) : value
}

function misplaced(key: string, spec: SpecNode): string {
  if (!isKeyword(key)) return 'is not supported by the value schema DSL'
  return spec.oneOf === undefined ? `is not supported on type "${String(spec.type)}"` : 'is not supported beside oneOf'
}

function ownKeys(record: SpecNode, place: Place): readonly string[] {
  const keys = Object.keys(record)
  if (!hasOnlyPlainKeys(record, keys.length)) place.fail(' must have only enumerable string keys')
  return keys
}

/** Assignment to `__proto__` would set the prototype instead of a property. */
function define(target: Draft, key: string, value: unknown): void {
  if (key === '__proto__') Object.defineProperty(target, key, { value, enumerable: true })
  else target[key] = value
}
