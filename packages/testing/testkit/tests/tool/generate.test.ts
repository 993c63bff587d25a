// What is made from schemas: valid values are valid, near-valid ones are refused, for any schema of the subset.
import {
  compileParameters,
  compileValueSchema,
  validatorFor,
  type JsonSchema,
  type ValueSchemaSpec,
} from '@deepseek-ai/dsh-tools'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { UnfillableSchema, valuesOf } from '../../src/tool/generate.ts'
import { nearValid } from '../../src/tool/near-valid.ts'

/** A satisfiable spec of any kind. Branches of a union differ by type, so that exactly one can match. */
const { spec } = fc.letrec<{ spec: ValueSchemaSpec; object: ValueSchemaSpec }>((tie) => ({
  spec: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    bounded('minLength', 'maxLength', 6).map((bounds): ValueSchemaSpec => ({ type: 'string', ...bounds })),
    fc
      .constantFrom('^a+$', '\\S', '^[0-9]{2,4}-x$', '^(on|off)$')
      .map((pattern): ValueSchemaSpec => ({ type: 'string', pattern })),
    bounded('minimum', 'maximum', 1000).map((bounds): ValueSchemaSpec => ({ type: 'integer', ...bounds })),
    bounded('minimum', 'maximum', 0.5).map((bounds): ValueSchemaSpec => ({ type: 'number', ...bounds })),
    fc.constant<ValueSchemaSpec>({ type: 'boolean' }),
    fc.constant<ValueSchemaSpec>({ type: 'null' }),
    fc.constant<ValueSchemaSpec>({ type: 'json' }),
    fc.constant<ValueSchemaSpec>({ type: 'string', enum: ['x', 'y'] }),
    fc.constant<ValueSchemaSpec>({ type: 'integer', const: 7 }),
    fc.constant<ValueSchemaSpec>({
      oneOf: [{ type: 'string', maxLength: 3 }, { type: 'null' }, { type: 'array', maxItems: 2 }],
    }),
    fc
      .tuple(tie('spec'), bounded('minItems', 'maxItems', 4))
      .map(([items, bounds]): ValueSchemaSpec => ({ type: 'array', items, ...bounds })),
    tie('object'),
  ),
  object: fc
    .tuple(
      fc.dictionary(fc.constantFrom('a', 'b', 'constructor', 'toString', ''), fc.tuple(tie('spec'), fc.boolean())),
      fc.boolean(),
    )
    .map(([entries, additionalProperties]): ValueSchemaSpec => {
      const properties = Object.entries(entries).map(([key, [each, required]]) => [
        key,
        required ? { ...each, required: true } : each,
      ])
      return { type: 'object', properties: Object.fromEntries(properties), additionalProperties }
    }),
}))

function bounded(low: string, high: string, span: number): fc.Arbitrary<Record<string, number>> {
  const low$ = fc.integer({ min: 0, max: 3 })
  return fc.tuple(low$, fc.integer({ min: 0, max: 4 }), fc.subarray([low, high])).map(([from, steps, keys]) => {
    const both: Record<string, number> = { [low]: from, [high]: from + steps * (span < 1 ? span : 1) }
    return Object.fromEntries(keys.map((key) => [key, both[key] ?? 0]))
  })
}

const samples = (schema: JsonSchema, numRuns = 20) => fc.sample(valuesOf(schema), { numRuns, seed: 7 })

describe('valuesOf', () => {
  it('makes values that the schema accepts, for any schema', () => {
    fc.assert(
      fc.property(spec, (each) => {
        const schema = compileValueSchema(each)
        for (const value of samples(schema)) expect(validatorFor(schema).violations(value)).toEqual([])
      }),
      { numRuns: 150 },
    )
  })

  it('makes the same values again for the same seed', () => {
    const schema = compileValueSchema({ type: 'array', items: { type: 'json' } })
    expect(samples(schema)).toEqual(samples(schema))
  })

  it('gives optional properties sometimes, required ones always, and tries examples', () => {
    const schema = compileParameters({
      a: { type: 'string', required: true, examples: ['of mine'] },
      b: { type: 'null' },
    })
    const made = samples(schema, 100) as { a: string; b?: null }[]
    expect(made.every(({ a }) => typeof a === 'string')).toBe(true)
    expect(new Set(made.map((value) => 'b' in value))).toEqual(new Set([true, false]))
    expect(made.some(({ a }) => a === 'of mine')).toBe(true)
  })

  it('takes replacements by path, nested ones too', () => {
    const schema = compileParameters({
      edits: {
        type: 'array',
        items: {
          type: 'object',
          properties: { path: { type: 'string', required: true } },
          additionalProperties: false,
        },
        minItems: 1,
        required: true,
      },
    })
    const made = fc.sample(valuesOf(schema, { 'edits[].path': fc.constant('here') }), { numRuns: 5, seed: 1 })
    for (const value of made) expect(JSON.stringify(value)).toMatch(/^\{"edits":\[(\{"path":"here"\},?)+\]\}$/)
  })

  it.each<[string, ValueSchemaSpec]>([
    ['a pattern that no length allows', { type: 'string', pattern: '^a$', minLength: 2 }],
    ['an integer between two others', { type: 'integer', minimum: 0.2, maximum: 0.8 }],
    ['a union of twins', { oneOf: [{ type: 'string' }, { type: 'string' }] }],
  ])('gives up on %s, and says where', (_what, each) => {
    const schema = compileParameters({ deep: { ...each, required: true } })
    let thrown: unknown
    try {
      samples(schema)
    } catch (error) {
      thrown = error
    }
    for (; thrown instanceof Error && !(thrown instanceof UnfillableSchema); thrown = thrown.cause);
    expect(thrown).toBeInstanceOf(UnfillableSchema)
    expect((thrown as Error).message).toMatch(/^found no value for "deep"/)
  })
})

describe('nearValid', () => {
  it('makes only values that the schema refuses, and one at least wherever the schema asks for a type', () => {
    fc.assert(
      fc.property(spec, (each) => {
        const schema = compileValueSchema(each)
        for (const value of samples(schema, 3)) {
          const made = nearValid(schema, value)
          for (const { args } of made) expect(validatorFor(schema).check(args)).toBe(false)
          expect(made.length > 0 || !('type' in schema)).toBe(true)
        }
      }),
      { numRuns: 100 },
    )
  })

  it('breaks each rule of a schema once', () => {
    const schema = compileParameters({
      name: { type: 'string', required: true, minLength: 2, maxLength: 4 },
      mode: { type: 'string', enum: ['a', 'b'] },
      depth: { type: 'integer', minimum: 1, maximum: 3 },
      box: { type: 'object', properties: { x: { type: 'number', required: true } }, additionalProperties: false },
      tags: { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 2 },
    })
    const made = nearValid(schema, { name: 'abc', mode: 'a', depth: 2, box: { x: 1 }, tags: ['t'] })
    const told = made.map(({ what }) => what)
    expect(told).toEqual(
      expect.arrayContaining([
        'the arguments: null',
        'drops "name"',
        '"name": too short',
        '"name": too long',
        '"name": a number instead',
        '"mode": another literal',
        '"depth": below the minimum',
        '"depth": above the maximum',
        '"depth": a number instead',
        'drops "box.x"',
        'adds "box.testkitExtra"',
        '"box.x": a string instead',
        '"tags": too few items',
        '"tags": too many items',
        '"tags[0]": a number instead',
      ]),
    )
  })
})
