// From the schema DSL to the JSON Schema that models are told: one cheap walk that stops at the first author error.
// Nothing is compiled for validation here; `validate.ts` does that on first use.
import { JsonSchemaError } from '../errors.ts'
import { snapshotJson } from '../json.ts'
import { markSupported } from './assert.ts'
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
  compileProperties(spec, 'parameters', 'parameters', root, [])
  return finish(root)
}

/** The schema of a value with any root. Frozen. Throws `JsonSchemaError` at the first mistake of the author. */
export function compileValueSchema(spec: ValueSchemaSpec): JsonSchema {
  return finish(compileNode(spec, 'schema', false, []))
}

function finish(root: Draft): JsonSchema {
  markSupported(root)
  return root
}

function fail(violation: string): never {
  throw new JsonSchemaError([violation])
}

/** Fills `properties` and `required` of `target`, required keys in declaration order. */
function compileProperties(map: unknown, path: string, prefix: string, target: Draft, ancestors: unknown[]): void {
  if (!isPlainRecord(map)) fail(`${path} must be an object of value schemas`)
  enter(map, path, ancestors)
  const properties: Draft = {}
  const required: string[] = []
  for (const key of ownKeys(map, path)) {
    const node = map[key]
    define(properties, key, compileNode(node, `${prefix}.${key}`, true, ancestors))
    if ((node as SpecNode).required === true) required.push(key)
  }
  ancestors.pop()
  target.properties = Object.freeze(properties)
  if (required.length > 0) target.required = Object.freeze(required)
}

function compileNode(spec: unknown, path: string, isProperty: boolean, ancestors: unknown[]): Draft {
  if (!isPlainRecord(spec)) fail(`${path} must be a value schema object`)
  enter(spec, path, ancestors)
  const draft = spec.oneOf === undefined ? typedNode(spec, path, ancestors) : oneOfNode(spec, path, ancestors)
  for (const key of ownKeys(spec, path)) {
    if (spec[key] === undefined || key === 'type' || key === 'oneOf') continue
    if (isAnnotation(key)) annotate(draft, key, spec[key], path)
    else if (key === 'required') {
      if (!isProperty) fail(`${path}.required is not supported by the value schema DSL`)
      if (spec.required !== true) fail(`${path}.required must be true when present`)
    } else if (!Object.hasOwn(draft, key)) fail(`${path}.${key} ${misplaced(key, spec.type)}`)
  }
  for (const problem of combinationProblems(draft, path)) fail(problem)
  ancestors.pop()
  return Object.freeze(draft)
}

function oneOfNode(spec: SpecNode, path: string, ancestors: unknown[]): Draft {
  if (spec.type !== undefined) fail(`${path} cannot declare both type and oneOf`)
  const branches = spec.oneOf
  if (!Array.isArray(branches) || branches.length < 2) {
    fail(`${path}.oneOf must be an array of at least two value schemas`)
  }
  const compiled: Draft[] = []
  for (let index = 0; index < branches.length; index++) {
    compiled.push(compileNode(branches[index], `${path}.oneOf[${index}]`, false, ancestors))
  }
  return { oneOf: Object.freeze(compiled) }
}

function typedNode(spec: SpecNode, path: string, ancestors: unknown[]): Draft {
  const { type } = spec
  if (type === 'json') return {}
  if (!isJsonType(type)) fail(`${path}.type must be ${JSON_TYPES_AND_JSON}, or use oneOf`)
  const draft: Draft = { type }
  if (type === 'object') {
    if (spec.properties !== undefined) {
      compileProperties(spec.properties, `${path}.properties`, `${path}.properties`, draft, ancestors)
    }
    if (typeof spec.additionalProperties !== 'boolean') {
      fail(`${path}.additionalProperties must be explicitly true or false`)
    }
    draft.additionalProperties = spec.additionalProperties
  }
  if (type === 'array' && spec.items !== undefined) {
    draft.items = compileNode(spec.items, `${path}.items`, false, ancestors)
  }
  copyConstraints(spec, draft, type, path)
  return draft
}

const JSON_TYPES_AND_JSON = 'string/number/integer/boolean/null/array/object/json'

function copyConstraints(spec: SpecNode, draft: Draft, type: JsonType, path: string): void {
  for (const key of CONSTRAINTS[type]) {
    const value = spec[key]
    if (value === undefined || STRUCTURE.has(key)) continue
    if (key === 'enum' && !(Array.isArray(value) && value.length > 0 && value.every(isScalar))) {
      fail(`${path}.enum must be a non-empty array of scalar values`)
    }
    const problem = constraintProblem(key, value, type)
    if (problem !== undefined) fail(`${path}.${key} ${problem}`)
    draft[key] = snapshotJson(value)
  }
}

/** Keywords that hold schemas or describe properties; the walk itself handles them. */
const STRUCTURE: ReadonlySet<string> = new Set(['properties', 'required', 'additionalProperties', 'items'])

function annotate(draft: Draft, key: string, value: unknown, path: string): void {
  const problem = annotationProblem(key, value)
  if (problem !== undefined) fail(`${path}.${key} ${problem}`)
  draft[key] = snapshotJson(value)
}

function misplaced(key: string, type: unknown): string {
  if (!isKeyword(key)) return 'is not supported by the value schema DSL'
  return type === undefined ? 'is not supported beside oneOf' : `is not supported on type "${String(type)}"`
}

/** Only ancestors count: a node may be shared between siblings. Paired with a pop. */
function enter(node: unknown, path: string, ancestors: unknown[]): void {
  if (ancestors.includes(node)) fail(`${path} is circular`)
  if (ancestors.length >= MAX_SCHEMA_DEPTH) fail(`${path} is nested deeper than ${MAX_SCHEMA_DEPTH} levels`)
  ancestors.push(node)
}

function ownKeys(record: SpecNode, path: string): readonly string[] {
  const keys = Object.keys(record)
  if (Reflect.ownKeys(record).length !== keys.length) fail(`${path} must have only enumerable string keys`)
  return keys
}

/** Assignment to `__proto__` would set the prototype instead of a property. */
function define(target: Draft, key: string, value: unknown): void {
  if (key === '__proto__') Object.defineProperty(target, key, { value, enumerable: true })
  else target[key] = value
}
