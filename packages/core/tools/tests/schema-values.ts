// Schemas and values of open tests: what may be authored, what is meant to match it, and what nearly does.
import * as fc from 'fast-check'
import type { JsonSchema, ValueSchemaSpec } from '../src/index.ts'

const key = fc.constantFrom('a', 'b', 'kind', '__proto__', 'toString')
/** Schemas as authors write them. */
export const { spec } = fc.letrec<{ spec: ValueSchemaSpec }>((tie) => {
  const node = tie('spec')
  const property = fc.tuple(node, fc.boolean()).map(([inner, required]) => (required ? { ...inner, required } : inner))
  return {
    spec: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constantFrom<ValueSchemaSpec>(
        { type: 'string' },
        { type: 'string', enum: ['a', 'b'] },
        { type: 'string', minLength: 1, maxLength: 3 },
        { type: 'number' },
        { type: 'integer', minimum: 0, maximum: 5 },
        { type: 'number', const: 1 },
        { type: 'boolean' },
        { type: 'null' },
        { type: 'json' },
      ),
      fc.record({ type: fc.constant('array'), items: node, maxItems: fc.constantFrom(2, 9) }),
      fc
        .tuple(fc.array(fc.tuple(key, property), { maxLength: 4 }), fc.boolean())
        .map(([entries, additionalProperties]) => ({
          type: 'object',
          properties: Object.fromEntries(entries),
          additionalProperties,
        })),
      fc.array(node, { minLength: 2, maxLength: 3 }).map((oneOf) => ({ oneOf })),
    ) as fc.Arbitrary<ValueSchemaSpec>,
  }
})

export const anyJson = fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.parse(JSON.stringify(value)) as unknown)

/** Values that are meant to match: they always do when the schema has no `oneOf`, whose other branches may match too. */
export function matching(schema: JsonSchema): fc.Arbitrary<unknown> {
  if (schema.oneOf !== undefined) return fc.oneof(...schema.oneOf.map(matching))
  if (schema.const !== undefined) return fc.constant(schema.const)
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum)
  switch (schema.type) {
    case 'string':
      return fc.string({ minLength: schema.minLength ?? 0, maxLength: schema.maxLength ?? 5 })
    case 'number':
      return fc.double({ noNaN: true, noDefaultInfinity: true }).filter((number) => !Object.is(number, -0))
    case 'integer':
      return fc.integer({ min: schema.minimum ?? -9, max: schema.maximum ?? 9 })
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'array':
      return fc.array(schema.items === undefined ? anyJson : matching(schema.items), {
        maxLength: schema.maxItems ?? 3,
      })
    case 'object': {
      const required = new Set(schema.required)
      const pairs = Object.entries(schema.properties ?? {}).map(([name, inner]) =>
        fc.tuple(fc.constant(name), matching(inner), required.has(name) ? fc.constant(true) : fc.boolean()),
      )
      return fc
        .tuple(...pairs)
        .map((entries) =>
          Object.fromEntries(entries.filter(([, , present]) => present).map(([name, item]) => [name, item])),
        )
    }
    default:
      return anyJson
  }
}

/** Replaces one random place of a value by another value. */
export function mutated(value: unknown, choice: number, replacement: unknown): unknown {
  if (typeof value !== 'object' || value === null || choice % 3 === 0) return replacement
  const entries = Object.entries(value)
  if (entries.length === 0) return choice % 2 === 0 ? { extra: replacement } : [replacement]
  const target = choice % entries.length
  const changed = entries.map(([name, item], index) => [
    name,
    index === target ? mutated(item, choice >> 2, replacement) : item,
  ])
  return Array.isArray(value) ? changed.map(([, item]) => item) : Object.fromEntries(changed)
}
