// Code generated from a schema against its oracle, the plain copy and the closures: whatever it takes, they take, and it comes out the same.
import * as fc from 'fast-check'
import { runInNewContext } from 'node:vm'
import { afterEach, describe, expect, it, vi } from 'vitest'
import {
  compileValueSchema,
  defineTool,
  snapshotJson,
  validatorFor,
  type JsonSchema,
  type ToolExecutionResult,
  type ValueSchemaSpec,
} from '../src/index.ts'
import { generateSnapshot, type MatchingSnapshot } from '../src/schema/generate.ts'
import type { Visit } from '../src/schema/visit.ts'
import { harness } from './fixtures.ts'
import { anyJson, matching, mutated, spec } from './schema-values.ts'

const visitOf =
  (schema: JsonSchema): Visit =>
  (value) =>
    validatorFor(schema).checkSnapshot(value as never)

function generated(schema: JsonSchema): MatchingSnapshot {
  const snapshot = generateSnapshot(schema, visitOf)
  if (snapshot === undefined) throw new Error(`no code was generated for ${JSON.stringify(schema)}`)
  return snapshot
}

/** What the plain way makes of a value: its frozen copy, or undefined. */
function plain(schema: JsonSchema, value: unknown): unknown {
  try {
    const copy = snapshotJson(value)
    return validatorFor(schema).checkSnapshot(copy) ? copy : undefined
  } catch {
    return undefined // not JSON, or an accessor that throws
  }
}

/** What the generated code makes of it; it may leave the errors of accessors to its caller. */
function quick(snapshot: MatchingSnapshot, value: unknown): unknown {
  try {
    return snapshot(value)
  } catch {
    return undefined
  }
}

function valueOf(result: ToolExecutionResult): unknown {
  return result.isError ? result.error : result.value
}

function everyContainer(value: unknown, visit: (container: object) => void): void {
  if (typeof value !== 'object' || value === null) return
  visit(value)
  for (const item of Object.values(value)) everyContainer(item, visit)
}

function hasProtoKey(value: unknown): boolean {
  let found = false
  everyContainer(value, (container) => (found ||= Object.hasOwn(container, '__proto__')))
  return found
}

/** Ways to make a container something else than it looks. */
const DISGUISES: readonly ((container: object) => unknown)[] = [
  (container) => Object.assign(container, { [Symbol('hidden')]: 1 }),
  (container) => Object.defineProperty(container, 'hidden', { value: 1 }),
  (container) => Object.assign(container, { extra: 'x' }),
  (container) => Object.setPrototypeOf(container, Map.prototype) as object,
  (container) => Object.setPrototypeOf(container, null) as object,
  (container) => Object.setPrototypeOf(container, Array.isArray(container) ? {} : { a: 'inherited' }) as object,
  (container) => new Proxy(container, {}),
  (container) => {
    const [first] = Object.keys(container)
    if (first !== undefined) Object.defineProperty(container, first, { enumerable: false })
    return container
  },
  (container) => {
    const [first] = Object.keys(container)
    if (first !== undefined) delete (container as Record<string, unknown>)[first]
    return container
  },
  (container) => (Array.isArray(container) ? container : Object.fromEntries(Object.entries(container).toReversed())),
  () => undefined,
  () => -0,
  () => Number.NaN,
  () => 1n,
]

/** Puts a disguise on one container of a value of its own. */
function disguised(value: unknown, choice: number): unknown {
  if (typeof value !== 'object' || value === null) return DISGUISES.at(-1 - (choice % 4))?.({})
  const own = structuredClone(value)
  const places: [object, string][] = []
  everyContainer(own, (container) => {
    for (const key of Object.keys(container)) places.push([container, key])
  })
  const disguise = DISGUISES[choice % DISGUISES.length]
  const place = places[Math.floor(choice / DISGUISES.length) % (places.length + 1)]
  if (disguise === undefined) throw new RangeError('no such disguise')
  if (place === undefined) return disguise(own)
  const [container, key] = place
  const item = (container as Record<string, unknown>)[key]
  const other = disguise(typeof item === 'object' && item !== null ? item : {})
  Object.defineProperty(container, key, { value: other, enumerable: true, writable: true, configurable: true })
  return own
}

afterEach(() => {
  vi.unstubAllGlobals()
})

describe('generated code', () => {
  it('takes what the plain way takes, makes the same of it, and takes nothing else', () => {
    const scenario = spec.chain((authored) => {
      const schema = compileValueSchema(authored)
      return fc.tuple(fc.constant(schema), matching(schema), fc.nat(), anyJson)
    })
    fc.assert(
      fc.property(scenario, ([schema, value, choice, replacement]) => {
        const snapshot = generated(schema)
        for (const subject of [value, mutated(value, choice, replacement)]) {
          const expected = plain(schema, subject)
          const copy = quick(snapshot, subject)
          // An undeclared key of this name is left to the plain way.
          if (copy === undefined && hasProtoKey(subject)) continue
          expect(copy).toEqual(expected)
          expect(JSON.stringify(copy)).toBe(JSON.stringify(expected)) // in the order of the value, not of the schema
        }
      }),
      { numRuns: 1000 },
    )
  })

  it('is not taken in by containers that are not what they look like', () => {
    const scenario = spec.chain((authored) => {
      const schema = compileValueSchema(authored)
      return fc.tuple(fc.constant(schema), matching(schema), fc.nat())
    })
    fc.assert(
      fc.property(scenario, ([schema, value, choice]) => {
        const subject = disguised(value, choice)
        const copy = quick(generated(schema), subject)
        if (copy !== undefined) {
          const expected = plain(schema, subject)
          expect(copy).toEqual(expected)
          expect(JSON.stringify(copy)).toBe(JSON.stringify(expected))
        }
      }),
      { numRuns: 1000 },
    )
  })

  it('detaches and freezes every container', () => {
    const schema = compileValueSchema({
      type: 'object',
      additionalProperties: true,
      properties: { rows: { type: 'array', items: { type: 'array' } }, any: { type: 'json' } },
    })
    const value = { rows: [[{ a: [1] }], []], any: { b: {} }, more: [{}] }
    const originals = new Set<object>()
    everyContainer(value, (container) => originals.add(container))
    const copy = generated(schema)(value)
    expect(copy).toEqual(value)
    everyContainer(copy, (container) => {
      expect(Object.isFrozen(container)).toBe(true)
      expect(originals.has(container)).toBe(false)
    })
  })

  it('reads each accessor once', () => {
    const schema = compileValueSchema({
      type: 'object',
      additionalProperties: false,
      properties: { a: { type: 'string', required: true }, b: { type: 'integer' } },
    })
    let reads = 0
    const a = { enumerable: true, get: () => `read ${++reads}` }
    const snapshot = generated(schema)
    expect(snapshot(Object.defineProperty({}, 'a', a))).toEqual({ a: 'read 1' })
    expect(snapshot(Object.defineProperties({}, { a, b: { value: 1, enumerable: true } }))).toEqual({
      a: 'read 2',
      b: 1,
    })
  })

  it.each([
    '"',
    "'",
    '`',
    '\\',
    '${1}',
    '\u2028',
    '*/',
    'a-b',
    '0',
    'default',
    'toString',
    '</script>',
    ']; throw 1; [',
  ])('takes the key %j for a key and nothing more', (key) => {
    const value = { [key]: 'x', other: 1 }
    const schema: JsonSchema = { type: 'object', properties: { [key]: { type: 'string' } }, required: [key] }
    const snapshot = generated(schema)
    expect(snapshot(value)).toEqual(value)
    expect(snapshot({ [key]: 'x' })).toEqual({ [key]: 'x' })
    expect(snapshot({ other: 1 })).toBeUndefined()
  })

  it('keeps the depth limit inside of what it has no code for', () => {
    let deep: unknown = 0
    for (let level = 0; level < 511; level++) deep = [deep]
    const snapshot = generated({ type: 'object', properties: { any: {} } })
    expect(snapshot({ any: deep })).toBeDefined()
    expect(snapshot({ any: [deep] })).toBeUndefined()
    expect(snapshot({ other: [deep] })).toBeUndefined()
  })

  it('is not made for schemas that would need too much of it', () => {
    let nested: ValueSchemaSpec = { type: 'string' }
    for (let level = 0; level < 80; level++) nested = { type: 'array', items: nested }
    expect(generateSnapshot(compileValueSchema(nested), visitOf)).toBeUndefined()
    const properties = Object.fromEntries(Array.from({ length: 600 }, (_, index) => [`k${index}`, { type: 'array' }]))
    expect(generateSnapshot({ type: 'object', properties } as JsonSchema, visitOf)).toBeUndefined()
  })
})

describe('validatorFor', () => {
  const authored: ValueSchemaSpec = {
    type: 'object',
    additionalProperties: false,
    properties: { a: { type: 'string', required: true }, b: { type: 'array', items: { type: 'integer' } } },
  }
  const subjects = [{ a: 'x' }, { b: [1], a: 'x' }, { a: 'x', b: [1.5] }, { b: [] }, { a: 'x', c: 1 }, null, undefined]
  const answers = (): unknown[] => {
    const validator = validatorFor(compileValueSchema(authored))
    return Array.from({ length: 20 }, () => subjects.map((subject) => validator.snapshot(subject)))
  }
  const expected = Array.from({ length: 20 }, () =>
    subjects.map((_, index) => (index < 2 ? subjects[index] : undefined)),
  )

  it('gives the same answers before and after its schema is worth code', () => {
    expect(answers()).toEqual(expected)
  })

  it('gives the same answers where code may not be generated', () => {
    const refused = vi.fn(function refuse() {
      throw new EvalError('Code generation from strings disallowed for this context')
    })
    vi.stubGlobal('Function', refused)
    expect(answers()).toEqual(expected)
    expect(refused).toHaveBeenCalledOnce()
  })

  it('takes values of another realm the plain way', () => {
    const validator = validatorFor(compileValueSchema(authored))
    for (let use = 0; use < 20; use++) {
      expect(validator.snapshot({ a: 'x' })).toEqual({ a: 'x' })
    }
    const foreign = runInNewContext(`({ a: 'x', b: [1] })`) as unknown
    expect(validator.snapshot(foreign) ?? snapshotJson(foreign)).toEqual({ a: 'x', b: [1] })
  })
})

describe('a tool that is called often', () => {
  it('keeps its outcomes, value and violations alike, when code takes over', async () => {
    const { tools, call } = await harness()
    tools.register(
      defineTool({
        name: 'total',
        description: 'Adds.',
        parameters: { rows: { type: 'array', items: { type: 'integer' }, required: true } },
        output: {
          schema: {
            type: 'object',
            additionalProperties: false,
            properties: { total: { type: 'integer', required: true } },
          },
          render: (_args, { total }) => [{ type: 'text', text: String(total) }],
        },
        execute: ({ rows }) => ({ total: rows.includes(99) ? 0.5 : rows.reduce((sum, row) => sum + row, 0) }),
      }),
    )
    const outcomes: unknown[] = []
    for (let use = 0; use < 20; use++) {
      const good = await call('total', { rows: [1, 2] })
      expect(valueOf(good)).toEqual({ total: 3 })
      const foreign = await call('total', runInNewContext('({ rows: [1, 2] })'))
      expect(valueOf(foreign)).toEqual({ total: 3 })
      outcomes.push([
        await call('total', { rows: [1, 'x'] }),
        await call('total', { rows: [99] }),
        await call('total', { rows: [-0] }),
      ])
    }
    for (const outcome of outcomes) expect(outcome).toEqual(outcomes[0])
    expect(outcomes[0]).toMatchObject([
      { error: { code: 'INVALID_ARGS', violations: ['"rows[1]" must be an integer (got string "x")'] } },
      { error: { code: 'INVALID_TOOL_OUTPUT' } },
      { error: { code: 'INVALID_ARGS' } },
    ])
  })
})
