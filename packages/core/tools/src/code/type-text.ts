// TypeScript text for a JSON Schema, as a model reads it. Deterministic, and total: what it cannot say is `unknown`.
import type { JsonSchema } from '../schema/types.ts'

const IDENTIFIER = /^[A-Za-z_$][A-Za-z0-9_$]*$/

/** The type of a value that matches the schema, on one line but for described properties. `indent` is the depth of nesting. */
export function typeText(schema: JsonSchema | undefined, indent = 0): string {
  if (typeof schema !== 'object' || schema === null) return 'unknown'
  if (Array.isArray(schema.oneOf)) return union(schema.oneOf.map((branch) => typeText(branch, indent)))
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (Array.isArray(schema.enum)) return union(schema.enum.map((literal) => JSON.stringify(literal)))
  switch (schema.type) {
    case 'string':
    case 'boolean':
    case 'null':
    case 'number':
      return schema.type
    case 'integer':
      return 'number'
    case 'array':
      return schema.items === undefined ? 'JsonValue[]' : `${grouped(typeText(schema.items, indent))}[]`
    case 'object':
      return objectText(schema, indent, schema.additionalProperties !== false)
    case undefined:
      return isUnconstrained(schema) ? 'JsonValue' : 'unknown'
    default:
      return 'unknown'
  }
}

/** The type of a tool's arguments: what else an open root would take is left unsaid, since no tool reads it. */
export function argumentsText(schema: JsonSchema, indent: number): string {
  return schema.type === 'object' ? objectText(schema, indent, false) : typeText(schema, indent)
}

function objectText(schema: JsonSchema, indent: number, open: boolean): string {
  const properties = Object.entries(schema.properties ?? {})
  if (properties.length === 0) return open ? 'Record<string, JsonValue>' : 'Record<string, never>'
  const required = new Set(schema.required)
  const pad = '  '.repeat(indent + 1)
  const lines = properties.map(([name, property]) => {
    const doc = docComment(property?.description, pad)
    return `${doc}${pad}${propertyName(name)}${required.has(name) ? '' : '?'}: ${typeText(property, indent + 1)};\n`
  })
  const literal = `{\n${lines.join('')}${'  '.repeat(indent)}}`
  return open ? `${literal} & Record<string, JsonValue>` : literal
}

/** One line, white space collapsed; a description cannot end its own comment. */
export function docComment(description: unknown, pad: string): string {
  if (typeof description !== 'string' || description.trim() === '') return ''
  return `${pad}/** ${description.trim().replace(/\s+/g, ' ').replaceAll('*/', '*\\/')} */\n`
}

/** A property name as it may stand in a type. */
export function propertyName(name: string): string {
  return IDENTIFIER.test(name) ? name : JSON.stringify(name)
}

function union(members: readonly string[]): string {
  return members.length === 0 ? 'never' : [...new Set(members)].join(' | ')
}

function grouped(text: string): string {
  return / [|&] /.test(text) ? `(${text})` : text
}

/** Annotations alone constrain nothing. */
function isUnconstrained(schema: JsonSchema): boolean {
  return Object.keys(schema).every((key) => ['description', 'title', 'default', 'examples'].includes(key))
}
