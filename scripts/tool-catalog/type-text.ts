// A JSON Schema in the notation that readers know, and its bounds in words.
import type { JsonSchema } from '@deepseek-ai/dsh-tools'

export function bounds(schema: JsonSchema): string {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems, pattern } = schema
  const range = (low: number | undefined, high: number | undefined, unit: string): string[] => {
    if (low === undefined && high === undefined) return []
    return [
      low === undefined
        ? `at most ${high}${unit}`
        : high === undefined
          ? `at least ${low}${unit}`
          : `${low} to ${high}${unit}`,
    ]
  }
  const notBlank = pattern === '\\S'
  const found = [
    ...(notBlank ? ['not blank'] : []),
    ...range(minimum, maximum, ''),
    ...(minLength === 1 && maxLength === undefined
      ? notBlank
        ? []
        : ['not empty']
      : range(minLength, maxLength, ' characters')),
    ...(minItems === 1 && maxItems === undefined ? ['not empty'] : range(minItems, maxItems, ' items')),
    ...(pattern === undefined || notBlank ? [] : [`matches \`${pattern}\``]),
  ]
  return found.length === 0 ? '' : `, ${found.join(', ')}`
}

/** A schema in the notation that readers know. */
export function typeText(schema: JsonSchema, depth: number): string {
  if (schema.oneOf !== undefined) return schema.oneOf.map((branch) => typeText(branch, depth)).join(' | ')
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) return schema.enum.map((each) => JSON.stringify(each)).join(' | ')
  if (schema.type === 'array') {
    const { items = {} } = schema
    const isUnion = items.oneOf !== undefined || (items.enum?.length ?? 0) > 1
    return isUnion ? `(${typeText(items, depth)})[]` : `${typeText(items, depth)}[]`
  }
  if (schema.type === 'object') return objectText(schema, depth)
  return schema.type ?? 'json'
}

function objectText({ properties = {}, required = [], additionalProperties }: JsonSchema, depth: number): string {
  const indent = '  '.repeat(depth + 1)
  const fields = Object.entries(properties).map(([name, property]) => {
    const mark = required.includes(name) ? '' : '?'
    const comment = property.description === undefined ? '' : ` // ${property.description.replaceAll(/\s+/g, ' ')}`
    return `${indent}${/^\w+$/.test(name) ? name : JSON.stringify(name)}${mark}: ${typeText(property, depth + 1)}${comment}`
  })
  if (additionalProperties !== false) fields.push(`${indent}[more: string]: json`)
  return fields.length === 0 ? '{}' : `{\n${fields.join('\n')}\n${'  '.repeat(depth)}}`
}
