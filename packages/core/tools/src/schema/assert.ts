// Checks a raw JSON Schema, written by hand or received from elsewhere, against the supported subset and reports every problem.
import { JsonSchemaError } from '../errors.ts'
import {
  annotationProblem,
  combinationProblems,
  CONSTRAINTS,
  constraintProblem,
  isAnnotation,
  isJsonType,
  isKeyword,
  isPlainRecord,
  JSON_TYPES,
  MAX_SCHEMA_DEPTH,
  SUBSET,
  type JsonType,
} from './keywords.ts'
import type { JsonSchema } from './types.ts'

export interface AssertSchemaOptions {
  /** `object` demands `type: "object"` at the root. Default `any`. */
  root?: 'any' | 'object'
  /** How the root is called in violations. Default `schema`. */
  label?: string
}

/** As a constructor: the object it is given, so that a subclass puts its private field on that. */
const Given = function (schema: object): object {
  return schema
} as unknown as new (schema: object) => object

/**
 * The mark of what the compiler made: a private field, which no listing, copy or comparison shows. A WeakSet would do the same, but each
 * garbage collection pays for its entries, and schemas come by the thousand.
 */
class Compiled extends Given {
  // oxlint-disable-next-line no-unused-private-class-members -- `#mark in schema` is its use
  readonly #mark = true

  static has(schema: object): boolean {
    return #mark in schema
  }
}

/** Marks a schema before it is frozen as the compiler's own, so that nobody walks or copies it again. Once a schema. */
export function markCompiled(schema: JsonSchema): void {
  void new Compiled(schema)
}

/** True for what the compiler made: supported, lossless JSON, deeply frozen. */
export function isCompiled(schema: unknown): schema is JsonSchema {
  return typeof schema === 'object' && schema !== null && Compiled.has(schema)
}

/** Throws `JsonSchemaError` (`UNSUPPORTED_SCHEMA`) with every problem of the schema, each with its path. */
export function assertSupportedJsonSchema(
  schema: unknown,
  options: AssertSchemaOptions = {},
): asserts schema is JsonSchema {
  const { root = 'any', label = 'schema' } = options
  const violations: string[] = []
  if (!isCompiled(schema)) new SchemaWalk(violations).visit(schema, label)
  if (root === 'object' && isPlainRecord(schema) && schema.type !== 'object') {
    violations.push(`${label}.type must be "object" (structured output is object-rooted)`)
  }
  if (violations.length > 0) throw new JsonSchemaError(violations)
}

/** `assertSupportedJsonSchema` with an object root. */
export function assertObjectJsonSchema(schema: unknown): asserts schema is JsonSchema {
  assertSupportedJsonSchema(schema, { root: 'object' })
}

type SchemaNode = Readonly<Record<string, unknown>>

class SchemaWalk {
  private readonly violations: string[]
  private readonly ancestors: unknown[] = []

  constructor(violations: string[]) {
    this.violations = violations
  }

  visit(node: unknown, path: string): void {
    if (!isPlainRecord(node)) return this.report(`${path} must be a schema object`)
    if (this.ancestors.includes(node)) return this.report(`${path} is circular`)
    if (this.ancestors.length >= MAX_SCHEMA_DEPTH) {
      return this.report(`${path} is nested deeper than ${MAX_SCHEMA_DEPTH} levels`)
    }
    this.ancestors.push(node)
    this.visitNode(node, path)
    this.ancestors.pop()
  }

  private visitNode(node: SchemaNode, path: string): void {
    const keys = Object.keys(node).filter((key) => node[key] !== undefined)
    const constraints: string[] = []
    for (const key of keys) {
      if (isAnnotation(key)) this.reportKey(path, key, annotationProblem(key, node[key]))
      else if (!isKeyword(key)) this.report(`${path}.${key} is not a supported keyword (subset: ${SUBSET})`)
      else if (key !== 'type' && key !== 'oneOf') constraints.push(key)
    }
    const hasType = node.type !== undefined
    if (hasType && node.oneOf !== undefined) this.report(`${path} cannot declare both type and oneOf`)
    else if (node.oneOf !== undefined) this.visitOneOf(node.oneOf, constraints, path)
    else if (hasType) this.visitTyped(node, constraints, path)
    else for (const key of constraints) this.report(`${path}.${key} requires type or oneOf`)
  }

  private visitOneOf(branches: unknown, constraints: readonly string[], path: string): void {
    for (const key of constraints) this.report(`${path}.${key} is not supported beside oneOf`)
    if (!Array.isArray(branches) || branches.length < 2) {
      return this.report(`${path}.oneOf must be an array of at least two schemas`)
    }
    for (let index = 0; index < branches.length; index++) this.visit(branches[index], `${path}.oneOf[${index}]`)
  }

  private visitTyped(node: SchemaNode, constraints: readonly string[], path: string): void {
    const { type } = node
    if (typeof type !== 'string') {
      return this.report(`${path}.type must be a single type string (type arrays are not supported)`)
    }
    if (!isJsonType(type)) return this.report(`${path}.type must be one of ${JSON_TYPES.join('/')}`)
    for (const key of constraints) {
      if (CONSTRAINTS[type].has(key)) this.visitConstraint(node, key, type, path)
      else this.report(`${path}.${key} is not supported on type "${type}"`)
    }
    for (const problem of combinationProblems(node, path)) this.report(problem)
  }

  private visitConstraint(node: SchemaNode, key: string, type: JsonType, path: string): void {
    const value = node[key]
    if (key === 'items') return this.visit(value, `${path}.items`)
    if (key === 'properties') return this.visitProperties(value, `${path}.properties`)
    if (key === 'required') return this.visitRequired(value, node.properties, path)
    if (key === 'additionalProperties') {
      return this.reportKey(path, key, typeof value === 'boolean' ? undefined : 'must be a boolean')
    }
    this.reportKey(path, key, constraintProblem(key, value, type))
  }

  private visitProperties(properties: unknown, path: string): void {
    if (!isPlainRecord(properties)) return this.report(`${path} must be an object of schemas`)
    for (const key of Object.keys(properties)) this.visit(properties[key], `${path}.${key}`)
  }

  private visitRequired(required: unknown, properties: unknown, path: string): void {
    if (!Array.isArray(required) || !required.every((key) => typeof key === 'string')) {
      return this.report(`${path}.required must be an array of strings`)
    }
    for (const key of required) {
      if (isPlainRecord(properties) && Object.hasOwn(properties, key)) continue
      this.report(`${path}.required names "${key}" which is not in properties`)
    }
  }

  private reportKey(path: string, key: string, problem: string | undefined): void {
    if (problem !== undefined) this.report(`${path}.${key} ${problem}`)
  }

  private report(violation: string): void {
    this.violations.push(violation)
  }
}
