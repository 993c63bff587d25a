// TypeScript types of the values that a spec admits. Types only; `validate.ts` is their counterpart at run time.
import type { Json, JsonObject } from '../presentation.ts'
import type { ParameterSchemaSpec, PropertySpec, ValueSchemaSpec } from './types.ts'

/** The arguments that a parameter spec admits. The root is open at run time; the type lists what is declared. */
export type InferArgs<P extends ParameterSchemaSpec> = Properties<P, 16>

/** The value that a spec admits, exact to 16 levels of nesting and `Json` below. */
export type InferValue<S extends ValueSchemaSpec> = Infer<S, 16>

/** `Shallower[n]` is n - 1. */
type Shallower = [never, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]

type Infer<S, D extends number> = S extends { const: infer C }
  ? C
  : S extends { enum: readonly (infer E)[] }
    ? E
    : S extends { type: infer T }
      ? InferTyped<S, T, D>
      : S extends { oneOf: readonly (infer B)[] }
        ? D extends 0
          ? Json
          : Infer<B, Shallower[D]>
        : Json

type InferTyped<S, T, D extends number> = T extends 'string'
  ? string
  : T extends 'number' | 'integer'
    ? number
    : T extends 'boolean'
      ? boolean
      : T extends 'null'
        ? null
        : D extends 0
          ? Json
          : T extends 'array'
            ? readonly InferItems<S, Shallower[D]>[]
            : T extends 'object'
              ? InferObject<S, Shallower[D]>
              : Json

type InferItems<S, D extends number> = S extends { items: infer I } ? Infer<I, D> : Json

type InferObject<S, D extends number> = S extends { properties: infer P extends Readonly<Record<string, PropertySpec>> }
  ? S extends { additionalProperties: false }
    ? Properties<P, D>
    : Properties<P, D> & JsonObject
  : S extends { additionalProperties: false }
    ? Record<string, never>
    : JsonObject

type RequiredKeys<P> = { [K in keyof P]: P[K] extends { required: true } ? K : never }[keyof P]

type Properties<P, D extends number> = Simplify<
  { -readonly [K in keyof P as K extends RequiredKeys<P> ? K : never]: Infer<P[K], D> } & {
    -readonly [K in keyof P as K extends RequiredKeys<P> ? never : K]?: Infer<P[K], D>
  }
>

/** Shows one flat object on hover instead of an intersection. */
type Simplify<T> = { [K in keyof T]: T[K] } & {}
