// Validation of values: the vocabulary of violations, unions, own properties, and agreement of the two answers.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  compileParameters,
  compileValueSchema,
  snapshotJson,
  unknownArgumentHints,
  validatorFor,
  type JsonSchema,
  type ParameterSchemaSpec,
  type ValueSchemaSpec,
} from '../src/index.ts'
import { anyJson, matching, mutated, spec } from './schema-values.ts'

function argumentViolations(spec: ParameterSchemaSpec, value: unknown): string[] {
  return bothAnswers(compileParameters(spec), value, '')
}

function valueViolations(spec: ValueSchemaSpec, value: unknown): string[] {
  return bothAnswers(compileValueSchema(spec), value)
}

/** The violations, after making sure that `check` says the same. */
function bothAnswers(schema: JsonSchema, value: unknown, path?: string): string[] {
  const validator = validatorFor(schema)
  const lines = validator.violations(value, path)
  expect(validator.check(value)).toBe(lines.length === 0)
  return lines
}

describe('violations', () => {
  it.each<[ValueSchemaSpec, unknown, string]>([
    [{ type: 'string' }, 3, '"value" must be a string (got number 3)'],
    [{ type: 'string' }, 'x'.repeat(50), ''],
    [{ type: 'number' }, 'x'.repeat(50), `"value" must be a number (got string "${'x'.repeat(40)}…")`],
    [{ type: 'number' }, Number.NaN, '"value" must be a finite JSON number (got number NaN)'],
    [{ type: 'number' }, -0, '"value" must be a finite JSON number (got number -0)'],
    [{ type: 'integer' }, 1.5, '"value" must be an integer (got number 1.5)'],
    [{ type: 'boolean' }, null, '"value" must be a boolean (got null)'],
    [{ type: 'null' }, false, '"value" must be null (got boolean false)'],
    [{ type: 'array' }, {}, '"value" must be an array (got object without keys)'],
    [{ type: 'object', additionalProperties: true }, [1], '"value" must be an object (got array of 1 item)'],
    [
      { type: 'string' },
      { a: 1, b: 2, c: 3, d: 4 },
      '"value" must be a string (got object with keys "a", "b", "c" and 1 more)',
    ],
    [{ type: 'string', enum: ['a', 'b'] }, 'c', '"value" must be one of ["a","b"] (got string "c")'],
    [{ type: 'string', const: 'a' }, 'c', '"value" must be "a" (got string "c")'],
    [{ type: 'number', minimum: 1 }, 0, '"value" must be at least 1 (got 0)'],
    [{ type: 'number', maximum: 1 }, 2, '"value" must be at most 1 (got 2)'],
    [{ type: 'string', minLength: 2 }, '😀', '"value" must have at least 2 characters (got 1)'],
    [{ type: 'string', maxLength: 1 }, 'ab', '"value" must have at most 1 character (got 2)'],
    [{ type: 'string', maxLength: 1 }, '😀', ''],
    [{ type: 'string', pattern: '^/' }, 'a', '"value" must match the pattern ^/ (got string "a")'],
    [{ type: 'string', pattern: '^.$' }, '😀', ''],
    [{ type: 'array', minItems: 1 }, [], '"value" must have at least 1 item (got 0)'],
    [{ type: 'array', maxItems: 1 }, [1, 2], '"value" must have at most 1 item (got 2)'],
    [
      { type: 'array', items: { type: 'array', items: { type: 'null' } } },
      [[null, 1]],
      '"value[0][1]" must be null (got number 1)',
    ],
    [{ type: 'json' }, undefined, '"value" must be a lossless JSON value (undefined is not JSON)'],
    [{ type: 'json' }, { a: [1n] }, '"value.a[0]" must be a lossless JSON value (bigint is not JSON)'],
    [{ type: 'array' }, [new Date(0)], '"value[0]" must be a lossless JSON value (an instance of Date is not JSON)'],
  ])('says what was wanted and what arrived: %#', (spec, value, violation) => {
    expect(valueViolations(spec, value)).toEqual(violation === '' ? [] : [violation])
  })

  it('lists missing properties first, then declared ones in order, then undeclared ones', () => {
    const inner = {
      type: 'object',
      additionalProperties: false,
      properties: { a: { type: 'string' }, command: { type: 'string', required: true } },
    } as const
    expect(
      argumentViolations({ x: inner, path: { type: 'string', required: true } }, { x: { zz: 1, a: 1, comand: '' } }),
    ).toEqual([
      'missing required property "path"',
      'missing required property "x.command"',
      '"x.a" must be a string (got number 1)',
      '"x.zz" is not a declared property (additionalProperties: false)',
      '"x.comand" is not a declared property (additionalProperties: false); did you mean "command"?',
    ])
  })

  it('names the root of arguments', () => {
    expect(argumentViolations({}, 'ls')).toEqual(['"arguments" must be an object (got string "ls")'])
  })

  it('takes a property that is present but undefined for missing', () => {
    expect(argumentViolations({ path: { type: 'string', required: true } }, { path: undefined })).toEqual([
      'missing required property "path"',
    ])
  })

  it('leaves the root open, fills in no defaults and coerces nothing', () => {
    const args = { extra: 1 }
    expect(argumentViolations({ a: { type: 'number', default: 3 } }, args)).toEqual([])
    expect(args).toEqual({ extra: 1 })
    expect(argumentViolations({ a: { type: 'number' } }, { a: '3' })).toEqual(['"a" must be a number (got string "3")'])
  })

  it('never takes an inherited property for an argument', () => {
    // Through JSON, since TypeScript knows `toString` as a method.
    const spec = JSON.parse(
      '{"toString":{"type":"string","required":true},"constructor":{"type":"json","required":true}}',
    ) as ParameterSchemaSpec
    expect(argumentViolations(spec, {})).toEqual([
      'missing required property "toString"',
      'missing required property "constructor"',
    ])
    expect(argumentViolations(spec, { toString: 'a', constructor: 1 })).toEqual([])
  })

  it('validates a property named __proto__', () => {
    const spec = JSON.parse('{"__proto__":{"type":"string","required":true}}') as ParameterSchemaSpec
    expect(argumentViolations(spec, JSON.parse('{"__proto__":"a"}'))).toEqual([])
    expect(argumentViolations(spec, JSON.parse('{"__proto__":1}'))).toHaveLength(1)
    expect(argumentViolations(spec, {})).toEqual(['missing required property "__proto__"'])
  })

  it('keeps the list short when every item is wrong', () => {
    const lines = valueViolations({ type: 'array', items: { type: 'null' } }, Array(1000).fill(1))
    expect(lines).toHaveLength(33)
    expect(lines.at(-1)).toBe('and 968 more violations')
  })
})

describe('oneOf', () => {
  const shape: ValueSchemaSpec = {
    oneOf: [
      {
        type: 'object',
        additionalProperties: false,
        properties: {
          kind: { type: 'string', const: 'circle', required: true },
          r: { type: 'number', required: true },
        },
      },
      {
        type: 'object',
        additionalProperties: false,
        properties: { kind: { type: 'string', enum: ['box', 'square'], required: true }, w: { type: 'number' } },
      },
      { type: 'null' },
    ],
  }

  it.each<[unknown, string[]]>([
    [{ kind: 'circle', r: 1 }, []],
    [{ kind: 'square', w: 1 }, []],
    [null, []],
    [{ kind: 'circle' }, ['missing required property "value.r"']],
    [{ kind: 'box', w: '1' }, ['"value.w" must be a number (got string "1")']],
    [{ kind: 'line' }, ['"value.kind" must be one of ["circle","box","square"] (got string "line")']],
    [{ r: 1 }, ['missing required property "value.kind"']],
    [3, ['"value" must match exactly one oneOf branch (matched 0): wanted object or null, got number 3']],
  ])('reports the branch that the discriminator names: %#', (value, lines) => {
    expect(valueViolations(shape, value)).toEqual(lines)
  })

  it('reports the only branch of the type that arrived', () => {
    expect(valueViolations({ oneOf: [{ type: 'integer', minimum: 1 }, { type: 'null' }] }, 0)).toEqual([
      '"value" must be at least 1 (got 0)',
    ])
  })

  it('counts the branches that match when more than one does', () => {
    expect(valueViolations({ oneOf: [{ type: 'number' }, { type: 'integer' }] }, 1)).toEqual([
      '"value" must match exactly one oneOf branch (matched 2)',
    ])
    expect(valueViolations({ oneOf: [{ type: 'number' }, { type: 'integer' }] }, 1.5)).toEqual([])
  })

  it('shows the nearest branch when several could have been meant', () => {
    const [line] = valueViolations(
      {
        oneOf: [
          { type: 'string', const: 'a' },
          { type: 'string', minLength: 3, pattern: 'x' },
        ],
      },
      'b',
    )
    expect(line).toBe(
      '"value" must match exactly one oneOf branch (matched 0); nearest branch: "value" must be "a" (got string "b")',
    )
  })

  it('does not trust a discriminator when an untyped branch might match as well', () => {
    const branch = (kind: string): ValueSchemaSpec => ({
      type: 'object',
      additionalProperties: true,
      properties: { kind: { type: 'string', const: kind, required: true } },
    })
    expect(valueViolations({ oneOf: [branch('a'), branch('b'), { type: 'json' }] }, { kind: 'c' })).toEqual([])
    expect(valueViolations({ oneOf: [branch('a'), branch('b'), { type: 'json' }] }, { kind: 'a' })).toHaveLength(1)
  })
})

describe('unknownArgumentHints', () => {
  const schema = compileParameters({
    command: { type: 'string', required: true },
    file_path: { type: 'string' },
    x: { type: 'number' },
  })

  it.each<[unknown, string[]]>([
    [{ comand: 'ls' }, ['unknown argument "comand"; did you mean "command"?']],
    [{ cmomand: 'ls' }, ['unknown argument "cmomand"; did you mean "command"?']],
    [{ command: 'ls', filePath: 'a' }, ['unknown argument "filePath"; did you mean "file_path"?']],
    [{ command: 'ls', comand: 'b' }, []],
    [{ y: 1 }, []],
    [{ somethingElse: 1 }, []],
    [{ command: 'ls' }, []],
    [['comand'], []],
    [null, []],
  ])('names the declared key that was probably meant: %#', (value, hints) => {
    expect(unknownArgumentHints(schema, value)).toEqual(hints)
  })

  it('is silent for a closed root, which reports violations, and total for anything', () => {
    expect(unknownArgumentHints({ ...schema, additionalProperties: false }, { comand: 1 })).toEqual([])
    fc.assert(
      fc.property(fc.anything(), (value) => {
        expect(Array.isArray(unknownArgumentHints(schema, value))).toBe(true)
      }),
    )
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    expect(() => unknownArgumentHints(schema, proxy)).not.toThrow()
  })
})

/** The meaning of a schema in its plainest form, as an oracle. */
function matches(schema: JsonSchema, value: unknown): boolean {
  if (schema.oneOf !== undefined) return schema.oneOf.filter((branch) => matches(branch, value)).length === 1
  if (schema.const !== undefined) return value === schema.const
  if (schema.enum !== undefined) return schema.enum.some((literal) => literal === value)
  switch (schema.type) {
    case 'string':
      return typeof value === 'string' && between(Array.from(value).length, schema.minLength, schema.maxLength)
    case 'integer':
      return Number.isInteger(value) && between(value as number, schema.minimum, schema.maximum)
    case 'number':
      return typeof value === 'number' && between(value, schema.minimum, schema.maximum)
    case 'boolean':
      return typeof value === 'boolean'
    case 'null':
      return value === null
    case 'array':
      return (
        Array.isArray(value) &&
        between(value.length, schema.minItems, schema.maxItems) &&
        value.every((item) => matches(schema.items ?? {}, item))
      )
    case 'object': {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
      const declared = new Map(Object.entries(schema.properties ?? {}))
      const own = Object.entries(value)
      return (
        (schema.required ?? []).every((name) => own.some(([present]) => present === name)) &&
        own.every(([name, item]) => {
          const inner = declared.get(name)
          return inner === undefined ? schema.additionalProperties !== false : matches(inner, item)
        })
      )
    }
    default:
      return true
  }
}

function between(number: number, low = -Infinity, high = Infinity): boolean {
  return number >= low && number <= high
}

describe('validatorFor', () => {
  it('is one validator for a schema object', () => {
    const schema: JsonSchema = { type: 'string' }
    expect(validatorFor(schema)).toBe(validatorFor(schema))
  })

  it('accepts values made from the schema and agrees with the plain meaning on mutated ones', () => {
    const scenario = spec.chain((authored) => {
      const schema = compileValueSchema(authored)
      return fc.tuple(fc.constant(schema), matching(schema), fc.nat(), anyJson)
    })
    fc.assert(
      fc.property(scenario, ([schema, value, choice, replacement]) => {
        const broken = mutated(value, choice, replacement)
        for (const subject of [value, broken]) {
          const frozen = snapshotJson(subject)
          expect(bothAnswers(schema, subject)).toEqual(bothAnswers(schema, frozen))
          expect(validatorFor(schema).check(subject)).toBe(matches(schema, subject))
        }
        if (!JSON.stringify(schema).includes('"oneOf"')) expect(bothAnswers(schema, value)).toEqual([])
      }),
      { numRuns: 500 },
    )
  })

  it('never throws and never disagrees with itself, whatever arrives', () => {
    const anything = fc.anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withNullPrototype: true,
      withSparseArray: true,
    })
    fc.assert(fc.property(spec, anything, (authored, value) => void valueViolations(authored, value)))
  })

  it('is total for hostile accessors and proxies', () => {
    const boo = (): never => {
      throw new Error('boo')
    }
    const schema = compileParameters({
      a: { type: 'string', required: true },
      b: { type: 'array', items: { type: 'string' } },
    })
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    const hostile = [
      Object.defineProperty({}, 'a', { get: boo, enumerable: true }),
      new Proxy({}, { getPrototypeOf: boo, ownKeys: boo, get: boo, getOwnPropertyDescriptor: boo, has: boo }),
      new Proxy([], { get: boo }),
      { a: 'x', b: new Proxy(['x'], { get: boo }) },
      proxy,
    ]
    for (const value of hostile) expect(bothAnswers(schema, value, '').length).toBeGreaterThan(0)
  })

  it('says so when the schema itself is unusable', () => {
    const lines = bothAnswers({ type: 'string', pattern: '(' }, 'a')
    expect(lines[0]).toMatch(/^"value" cannot be validated: /)
  })
})
