// The keywords of the supported JSON Schema subset: which type each belongs to and when its value is acceptable.
// Both doors use this table: specs written in the DSL (`compile.ts`) and raw schemas (`assert.ts`).
import { isLosslessJson } from '../json.ts'

export const JSON_TYPES = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'] as const
export type JsonType = (typeof JSON_TYPES)[number]

/** Schemas nested deeper than this are refused, so that no walk over a schema can exhaust the stack. */
export const MAX_SCHEMA_DEPTH = 512

const ANNOTATIONS = ['description', 'title', 'default', 'examples']
const LITERALS = ['enum', 'const']

/** Constraint keywords by type; `type` itself and annotations are understood. */
export const CONSTRAINTS: Readonly<Record<JsonType, ReadonlySet<string>>> = {
  object: new Set(['properties', 'required', 'additionalProperties']),
  array: new Set(['items', 'minItems', 'maxItems']),
  string: new Set([...LITERALS, 'minLength', 'maxLength', 'pattern']),
  number: new Set([...LITERALS, 'minimum', 'maximum']),
  integer: new Set([...LITERALS, 'minimum', 'maximum']),
  boolean: new Set(LITERALS),
  null: new Set(LITERALS),
}

const ANNOTATION_SET: ReadonlySet<string> = new Set(ANNOTATIONS)
const KEYWORDS: ReadonlySet<string> = new Set([
  'type',
  'oneOf',
  ...ANNOTATIONS,
  ...Object.values(CONSTRAINTS).flatMap((keys) => [...keys]),
])

export const SUBSET = [...KEYWORDS].join(', ')

export function isAnnotation(key: string): boolean {
  return ANNOTATION_SET.has(key)
}

export function isKeyword(key: string): boolean {
  return KEYWORDS.has(key)
}

export function isJsonType(type: unknown): type is JsonType {
  return typeof type === 'string' && Object.hasOwn(CONSTRAINTS, type)
}

/** A record as a schema may be one: plain, own enumerable string keys. Arrays, instances and proxies that misbehave are not. */
export function isPlainRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype || Object.getPrototypeOf(prototype) === null
}

/** Completes `<path>.<key> …` when an annotation is unacceptable. */
export function annotationProblem(key: string, value: unknown): string | undefined {
  if (key === 'description' || key === 'title') return typeof value === 'string' ? undefined : 'must be a string'
  return isLosslessJson(value) ? undefined : 'annotation must be lossless JSON data'
}

/** Completes `<path>.<key> …` when the value of a scalar or bound constraint is unacceptable. */
export function constraintProblem(key: string, value: unknown, type: JsonType): string | undefined {
  switch (key) {
    case 'const':
      return isLiteral(value, type) ? undefined : `must be ${type === 'integer' ? 'an' : 'a'} ${type} value`
    case 'enum':
      return Array.isArray(value) && value.length > 0 && value.every((item) => isLiteral(item, type))
        ? undefined
        : `must be a non-empty array of ${type} values`
    case 'minimum':
    case 'maximum':
      return isLiteral(value, 'number') ? undefined : 'must be a finite number'
    case 'minLength':
    case 'maxLength':
    case 'minItems':
    case 'maxItems':
      return isLiteral(value, 'integer') && (value as number) >= 0 ? undefined : 'must be a non-negative integer'
    case 'pattern':
      return patternProblem(value)
    default:
      return undefined
  }
}

/** Problems between two keywords of one node. */
export function combinationProblems(node: Readonly<Record<string, unknown>>, path: string): readonly string[] {
  const problems: string[] = []
  for (let index = 0; index < BOUNDS.length; index++) {
    const [low, high] = BOUNDS[index] as (typeof BOUNDS)[number]
    const [from, to] = [node[low], node[high]]
    if (typeof from === 'number' && typeof to === 'number' && from > to) {
      problems.push(`${path}.${low} must not exceed ${path}.${high} (${from} > ${to})`)
    }
  }
  if (node.const !== undefined && Array.isArray(node.enum) && !node.enum.includes(node.const)) {
    problems.push(`${path}.const must be one of ${path}.enum when both are declared`)
  }
  return problems
}

const BOUNDS = [
  ['minimum', 'maximum'],
  ['minLength', 'maxLength'],
  ['minItems', 'maxItems'],
] as const

export function isScalar(value: unknown): boolean {
  return value === null || typeof value === 'string' || typeof value === 'boolean' || isLiteral(value, 'number')
}

function isLiteral(value: unknown, type: JsonType): boolean {
  switch (type) {
    case 'string':
    case 'boolean':
      return typeof value === type
    case 'null':
      return value === null
    case 'number':
      return typeof value === 'number' && Number.isFinite(value) && !Object.is(value, -0)
    case 'integer':
      return Number.isInteger(value) && !Object.is(value, -0)
    default:
      return false
  }
}

function patternProblem(value: unknown): string | undefined {
  if (typeof value !== 'string') return 'must be a string'
  try {
    RegExp(value, 'u')
    return undefined
  } catch (thrown) {
    return `must be a regular expression: ${(thrown as SyntaxError).message}`
  }
}
