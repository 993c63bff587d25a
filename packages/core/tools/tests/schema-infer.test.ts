// The types inferred from specs. Checked by the compiler; at run time these only pin that the specs compile.
import { describe, expectTypeOf, it } from 'vitest'
import type { InferArgs, InferValue, Json, JsonObject, ParameterSchemaSpec, ValueSchemaSpec } from '../src/index.ts'

function value<const S extends ValueSchemaSpec>(spec: S): InferValue<S> {
  return spec as unknown as InferValue<S>
}
function args<const P extends ParameterSchemaSpec>(spec: P): InferArgs<P> {
  return spec as unknown as InferArgs<P>
}

describe('InferValue', () => {
  it('infers scalars, literals before primitives', () => {
    expectTypeOf(value({ type: 'string' })).toEqualTypeOf<string>()
    expectTypeOf(value({ type: 'number' })).toEqualTypeOf<number>()
    expectTypeOf(value({ type: 'integer' })).toEqualTypeOf<number>()
    expectTypeOf(value({ type: 'boolean' })).toEqualTypeOf<boolean>()
    expectTypeOf(value({ type: 'null' })).toEqualTypeOf<null>()
    expectTypeOf(value({ type: 'json' })).toEqualTypeOf<Json>()
    expectTypeOf(value({ type: 'string', enum: ['a', 'b'] })).toEqualTypeOf<'a' | 'b'>()
    expectTypeOf(value({ type: 'integer', enum: [1, 2], const: 1 })).toEqualTypeOf<1>()
    expectTypeOf(value({ type: 'boolean', const: true })).toEqualTypeOf<true>()
  })

  it('infers arrays as readonly, since values are frozen', () => {
    expectTypeOf(value({ type: 'array', items: { type: 'string' } })).toEqualTypeOf<readonly string[]>()
    expectTypeOf(value({ type: 'array' })).toEqualTypeOf<readonly Json[]>()
  })

  it('infers open and closed objects', () => {
    expectTypeOf(value({ type: 'object', additionalProperties: false })).toEqualTypeOf<Record<string, never>>()
    expectTypeOf(value({ type: 'object', additionalProperties: true })).toEqualTypeOf<JsonObject>()
    expectTypeOf(
      value({
        type: 'object',
        additionalProperties: false,
        properties: { a: { type: 'string', required: true }, b: { type: 'null' } },
      }),
    ).toEqualTypeOf<{ a: string; b?: null }>()
    const open = value({
      type: 'object',
      additionalProperties: true,
      properties: { a: { type: 'string', required: true }, b: { type: 'number' } },
    })
    expectTypeOf(open).toEqualTypeOf<{ a: string; b?: number } & JsonObject>()
    expectTypeOf(open.a).toEqualTypeOf<string>()
    expectTypeOf(open.b).toEqualTypeOf<number | undefined>()
    expectTypeOf(open.other).toEqualTypeOf<Json | undefined>()
  })

  it('infers unions that narrow by their discriminator', () => {
    const union = value({
      oneOf: [
        {
          type: 'object',
          additionalProperties: false,
          properties: { kind: { type: 'string', const: 'a', required: true }, n: { type: 'number', required: true } },
        },
        {
          type: 'object',
          additionalProperties: false,
          properties: { kind: { type: 'string', const: 'b', required: true } },
        },
        { type: 'null' },
      ],
    })
    expectTypeOf(union).toEqualTypeOf<{ kind: 'a'; n: number } | { kind: 'b' } | null>()
  })

  it('stays usable for a spec that is only known at run time', () => {
    expectTypeOf<InferArgs<ParameterSchemaSpec>>().toExtend<Record<string, unknown>>()
    expectTypeOf<null>().toExtend<InferValue<ValueSchemaSpec>>()
  })

  it('gives up on exactness below 16 levels', () => {
    type Nest<S extends ValueSchemaSpec> = { type: 'array'; items: S }
    type Nest4<S extends ValueSchemaSpec> = Nest<Nest<Nest<Nest<S>>>>
    type Sixteen = Nest4<Nest4<Nest4<Nest4<{ type: 'string' }>>>>
    type Four<T> = readonly (readonly (readonly (readonly T[])[])[])[]
    expectTypeOf<InferValue<Sixteen>>().toEqualTypeOf<Four<Four<Four<Four<string>>>>>()
    expectTypeOf<InferValue<Nest4<Nest4<Nest4<Nest4<Nest<{ type: 'string' }>>>>>>>().toEqualTypeOf<
      Four<Four<Four<Four<Json>>>>
    >()
  })
})

describe('InferArgs', () => {
  it('lists declared arguments, optional unless required, with no index signature', () => {
    expectTypeOf(
      args({ path: { type: 'string', required: true, description: 'Absolute path' }, limit: { type: 'number' } }),
    ).toEqualTypeOf<{ path: string; limit?: number }>()
    expectTypeOf(args({})).toEqualTypeOf<{}>()
  })
})
