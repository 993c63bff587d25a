// Author errors of the DSL, the schema models are told, and the check of raw schemas.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  assertObjectJsonSchema,
  assertSupportedJsonSchema,
  compileParameters,
  compileValueSchema,
  JsonSchemaError,
  snapshotJson,
} from '../src/index.ts'
import { isCompiled } from '../src/schema/assert.ts'
import { spec } from './schema-values.ts'

function violations(run: () => unknown): readonly string[] {
  try {
    run()
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(JsonSchemaError)
    const error = thrown as JsonSchemaError
    expect(error.code).toBe('UNSUPPORTED_SCHEMA')
    expect(error.message).toBe(`unsupported JSON schema: ${error.violations.join('; ')}`)
    return error.violations
  }
  return []
}

const circular: Record<string, unknown> = { type: 'array' }
circular.items = circular

function nested(depth: number): unknown {
  return depth === 0 ? { type: 'string' } : { type: 'array', items: nested(depth - 1) }
}

describe('what the compiler makes', () => {
  it('is lossless JSON, frozen to the bottom, and shows no mark of its own', () => {
    fc.assert(
      fc.property(spec, (authored) => {
        for (const schema of [compileValueSchema(authored), compileParameters({ only: authored })]) {
          expect(isCompiled(schema)).toBe(true)
          expect(snapshotJson(schema)).toEqual(schema)
          expectFrozen(schema)
        }
      }),
    )
    const schema = compileValueSchema({ type: 'string' })
    expect(Reflect.ownKeys(schema)).toEqual(['type'])
    for (const other of [{ ...schema }, structuredClone(schema), Object.create(schema) as object, {}, null, 'text']) {
      expect(isCompiled(other)).toBe(false)
    }
  })
})

function expectFrozen(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  expect(Object.isFrozen(value)).toBe(true)
  Object.values(value).forEach(expectFrozen)
}

describe('compileParameters', () => {
  it('makes an open object with the required keys in declaration order', () => {
    expect(
      compileParameters({
        path: { type: 'string', required: true, description: 'Absolute path', pattern: '^/' },
        limit: { type: 'integer', minimum: 1, default: 5, examples: [1, 2] },
        mode: { type: 'string', enum: ['a', 'b'], required: true },
        any: { type: 'json', title: 'Anything' },
      }),
    ).toEqual({
      type: 'object',
      properties: {
        path: { type: 'string', description: 'Absolute path', pattern: '^/' },
        limit: { type: 'integer', minimum: 1, default: 5, examples: [1, 2] },
        mode: { type: 'string', enum: ['a', 'b'] },
        any: { title: 'Anything' },
      },
      required: ['path', 'mode'],
    })
    expect(compileParameters({})).toEqual({ type: 'object', properties: {} })
  })

  it('keeps a parameter named __proto__ as data', () => {
    const schema = compileParameters(JSON.parse('{"__proto__":{"type":"string","required":true}}') as never)
    expect(Object.keys(schema.properties ?? {})).toEqual(['__proto__'])
    expect(schema.required).toEqual(['__proto__'])
  })

  it('detaches literals and annotations from the author', () => {
    const mode = { type: 'string' as const, enum: ['a'], default: { x: 1 } }
    const schema = compileParameters({ mode })
    mode.enum.push('b')
    mode.default.x = 2
    expect(schema.properties).toEqual({ mode: { type: 'string', enum: ['a'], default: { x: 1 } } })
  })

  it('lets siblings share a node', () => {
    const shared = { type: 'string' } as const
    expect(violations(() => compileParameters({ a: shared, b: shared }))).toEqual([])
  })

  it.each([
    [null, 'parameters must be an object of value schemas'],
    [{ a: 1 }, 'parameters.a must be a value schema object'],
    [
      { a: { type: 'text' } },
      'parameters.a.type must be string/number/integer/boolean/null/array/object/json, or use oneOf',
    ],
    [{ a: { type: 'string', format: 'uri' } }, 'parameters.a.format is not supported by the value schema DSL'],
    [{ a: { type: 'string', toString: 1 } }, 'parameters.a.toString is not supported by the value schema DSL'],
    [{ a: { type: 'string', required: false } }, 'parameters.a.required must be true when present'],
    [{ a: { type: 'object' } }, 'parameters.a.additionalProperties must be explicitly true or false'],
    [{ a: { type: 'string', oneOf: [] } }, 'parameters.a cannot declare both type and oneOf'],
    [{ a: { oneOf: [{ type: 'null' }] } }, 'parameters.a.oneOf must be an array of at least two value schemas'],
    [{ a: { type: 'string', enum: [] } }, 'parameters.a.enum must be a non-empty array of scalar values'],
    [{ a: { type: 'string', enum: [1] } }, 'parameters.a.enum must be a non-empty array of string values'],
    [{ a: { type: 'integer', const: 1.5 } }, 'parameters.a.const must be an integer value'],
    [
      { a: { type: 'string', enum: ['a'], const: 'b' } },
      'parameters.a.const must be one of parameters.a.enum when both are declared',
    ],
    [{ a: { type: 'string', items: { type: 'null' } } }, 'parameters.a.items is not supported on type "string"'],
    [
      { a: { type: 'number', minimum: 2, maximum: 1 } },
      'parameters.a.minimum must not exceed parameters.a.maximum (2 > 1)',
    ],
    [{ a: { type: 'number', minimum: '1' } }, 'parameters.a.minimum must be a finite number'],
    [{ a: { type: 'string', minLength: -1 } }, 'parameters.a.minLength must be a non-negative integer'],
    [{ a: { type: 'array', maxItems: 1.5 } }, 'parameters.a.maxItems must be a non-negative integer'],
    [{ a: { type: 'string', description: 1 } }, 'parameters.a.description must be a string'],
    [{ a: { type: 'string', default: -0 } }, 'parameters.a.default annotation must be lossless JSON data'],
    [{ a: circular }, 'parameters.a.items is circular'],
    [
      {
        foo: {
          type: 'object',
          additionalProperties: true,
          properties: { bar: { oneOf: [{ type: 'null' }, { type: 'array', items: 1 }] } },
        },
      },
      'parameters.foo.properties.bar.oneOf[1].items must be a value schema object',
    ],
    [
      { a: { type: 'array', items: { type: 'string', required: true } } },
      'parameters.a.items.required is not supported by the value schema DSL',
    ],
    [
      { a: { oneOf: [{ type: 'null' }, { type: 'string' }], minimum: 1 } },
      'parameters.a.minimum is not supported beside oneOf',
    ],
    [{ a: { type: 'string', [Symbol('s')]: 1 } }, 'parameters.a must have only enumerable string keys'],
  ])('stops at the first mistake: %#', (spec, violation) => {
    expect(violations(() => compileParameters(spec as never))).toEqual([violation])
  })

  it('says what is wrong with a pattern and with a bottomless schema', () => {
    const [pattern] = violations(() => compileParameters({ a: { type: 'string', pattern: '(' } }))
    expect(pattern).toMatch(/^parameters\.a\.pattern must be a regular expression: .+/)
    expect(violations(() => compileValueSchema(nested(2000) as never))[0]).toMatch(/is nested deeper than 512 levels$/)
  })
})

describe('compileValueSchema', () => {
  it('accepts any root', () => {
    expect(compileValueSchema({ type: 'null' })).toEqual({ type: 'null' })
    expect(compileValueSchema({ type: 'json' })).toEqual({})
    expect(compileValueSchema({ oneOf: [{ type: 'null' }, { type: 'array', items: { type: 'string' } }] })).toEqual({
      oneOf: [{ type: 'null' }, { type: 'array', items: { type: 'string' } }],
    })
  })

  it('refuses `required` at the root and a missing schema', () => {
    expect(violations(() => compileValueSchema({ type: 'null', required: true } as never))).toEqual([
      'schema.required is not supported by the value schema DSL',
    ])
    expect(violations(() => compileValueSchema(undefined as never))).toEqual(['schema must be a value schema object'])
  })

  it('makes schemas that the raw check accepts', () => {
    const schema = compileParameters({
      a: { type: 'array', items: { type: 'json' }, minItems: 1 },
      b: { type: 'null' },
    })
    expect(violations(() => assertSupportedJsonSchema(structuredClone(schema)))).toEqual([])
  })
})

describe('assertSupportedJsonSchema', () => {
  it('collects every problem with its path', () => {
    const schema = {
      type: 'object',
      description: 1,
      required: ['a', 'zz'],
      properties: {
        a: { type: ['string', 'null'] },
        b: { type: 'date' },
        c: { anyOf: [] },
        d: { minimum: 1 },
        e: { type: 'string', items: {} },
        f: { type: 'boolean', enum: ['x'] },
        g: { oneOf: [{}], properties: {} },
        h: { type: 'array', minItems: 3, maxItems: 1, items: 7 },
        i: { type: 'number', default: undefined, examples: [Number.NaN] },
      },
      additionalProperties: {},
    }
    const found = violations(() => assertSupportedJsonSchema(schema))
    expect(found.map((line) => line.replace(/\(subset: .*\)/, '(subset: …)'))).toEqual([
      'schema.description must be a string',
      'schema.required names "zz" which is not in properties',
      'schema.properties.a.type must be a single type string (type arrays are not supported)',
      'schema.properties.b.type must be one of object/array/string/number/integer/boolean/null',
      'schema.properties.c.anyOf is not a supported keyword (subset: …)',
      'schema.properties.d.minimum requires type or oneOf',
      'schema.properties.e.items is not supported on type "string"',
      'schema.properties.f.enum must be a non-empty array of boolean values',
      'schema.properties.g.properties is not supported beside oneOf',
      'schema.properties.g.oneOf must be an array of at least two schemas',
      'schema.properties.h.items must be a schema object',
      'schema.properties.h.minItems must not exceed schema.properties.h.maxItems (3 > 1)',
      'schema.properties.i.examples annotation must be lossless JSON data',
      'schema.additionalProperties must be a boolean',
    ])
  })

  it('uses the label it is given, refuses cycles and demands an object root when asked', () => {
    expect(violations(() => assertSupportedJsonSchema(1, { label: 'output' }))).toEqual([
      'output must be a schema object',
    ])
    expect(violations(() => assertSupportedJsonSchema(circular))).toEqual(['schema.items is circular'])
    expect(violations(() => assertSupportedJsonSchema({}))).toEqual([])
    expect(violations(() => assertObjectJsonSchema({ type: 'string' }))).toEqual([
      'schema.type must be "object" (structured output is object-rooted)',
    ])
  })
})
