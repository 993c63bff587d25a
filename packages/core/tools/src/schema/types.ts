// The schema DSL as an author writes it, the JSON Schema subset it compiles to, and the TypeScript types inferred from it.
import type { Json } from '../presentation.ts'

interface Annotations {
  description?: string
  title?: string
  /** Told to the model, never applied. */
  default?: Json
  examples?: readonly Json[]
}

interface Literals<T> {
  enum?: readonly T[]
  const?: T
}

export interface StringSpec extends Annotations, Literals<string> {
  type: 'string'
  minLength?: number
  maxLength?: number
  /** Source of a regular expression, matched anywhere, with the `u` flag. */
  pattern?: string
}
export interface NumberSpec extends Annotations, Literals<number> {
  type: 'number' | 'integer'
  minimum?: number
  maximum?: number
}
export interface BooleanSpec extends Annotations, Literals<boolean> {
  type: 'boolean'
}
export interface NullSpec extends Annotations, Literals<null> {
  type: 'null'
}
export interface ArraySpec extends Annotations {
  type: 'array'
  /** Omitted: any JSON. */
  items?: ValueSchemaSpec
  minItems?: number
  maxItems?: number
}
export interface ObjectSpec extends Annotations {
  type: 'object'
  properties?: { readonly [key: string]: PropertySpec }
  /** Openness is always spelled out. */
  additionalProperties: boolean
}
/** Any JSON. */
export interface JsonSpec extends Annotations {
  type: 'json'
}
/** Exactly one branch must match. */
export interface OneOfSpec extends Annotations {
  oneOf: readonly ValueSchemaSpec[]
}

export type ValueSchemaSpec =
  | StringSpec
  | NumberSpec
  | BooleanSpec
  | NullSpec
  | ArraySpec
  | ObjectSpec
  | JsonSpec
  | OneOfSpec

/** A value spec in a property position, where it may be required. */
export type PropertySpec = ValueSchemaSpec & { required?: true }

/** The arguments of a tool: an implicit, open object. */
export interface ParameterSchemaSpec {
  readonly [name: string]: PropertySpec
}

/** The JSON Schema subset that definitions carry and models are told. */
export interface JsonSchema {
  type?: 'string' | 'number' | 'integer' | 'boolean' | 'null' | 'array' | 'object'
  oneOf?: JsonSchema[]
  properties?: { [key: string]: JsonSchema }
  required?: string[]
  additionalProperties?: boolean
  items?: JsonSchema
  enum?: Json[]
  const?: Json
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  pattern?: string
  description?: string
  title?: string
  default?: Json
  examples?: Json[]
}
