// The lossless JSON boundary: what passes, what is refused and where.
import * as fc from 'fast-check'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { isLosslessJson, JsonValueError, snapshotJson } from '../src/index.ts'

function refusal(value: unknown, options?: Parameters<typeof snapshotJson>[1]): { path: string; message: string } {
  try {
    snapshotJson(value, options)
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(JsonValueError)
    const { path, message, code } = thrown as JsonValueError
    expect(code).toBe('NOT_LOSSLESS_JSON')
    return { path, message }
  }
  throw new Error('the value was accepted')
}

/** JSON values without -0, which JSON text cannot carry. */
const json = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as unknown)

function everyContainer(value: unknown, visit: (container: object) => void): void {
  if (typeof value !== 'object' || value === null) return
  visit(value)
  for (const item of Object.values(value)) everyContainer(item, visit)
}

describe('snapshotJson', () => {
  it('leaves hidden and symbol keys of an array behind, as JSON does', () => {
    const decorated = Object.defineProperty(Object.assign([1], { [Symbol.iterator]: 1 }), 'raw', { value: 1 })
    expect(Reflect.ownKeys(snapshotJson(decorated) as object)).toEqual(['0', 'length'])
  })

  it('equals a JSON round trip, detached and deeply frozen', () => {
    fc.assert(
      fc.property(json, (value) => {
        const originals = new Set<object>()
        everyContainer(value, (container) => originals.add(container))
        const copy = snapshotJson(value)
        expect(copy).toEqual(JSON.parse(JSON.stringify(value)))
        expect(JSON.stringify(copy)).toBe(JSON.stringify(value)) // key order too
        everyContainer(copy, (container) => {
          expect(Object.isFrozen(container)).toBe(true)
          expect(originals.has(container)).toBe(false)
        })
      }),
    )
  })

  it('either throws its own error or returns what JSON keeps, whatever it is given', () => {
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true, withSparseArray: true, withBigInt: true }), (value) => {
        if (isLosslessJson(value)) {
          const copy = snapshotJson(value)
          expect(JSON.parse(JSON.stringify(copy))).toEqual(copy)
        } else {
          refusal(value)
        }
      }),
    )
  })

  it('leaves the copy open when asked to', () => {
    const copy = snapshotJson({ rows: [{}] }, { freeze: false }) as { rows: object[] }
    expect([copy, copy.rows, copy.rows[0]].some(Object.isFrozen)).toBe(false)
  })

  it('reads each accessor once', () => {
    let reads = 0
    const value = {
      get a() {
        return ++reads
      },
      list: Object.defineProperty([0], 0, { get: () => ++reads, enumerable: true, configurable: true }),
    }
    expect(snapshotJson(value)).toEqual({ a: 1, list: [2] })
    expect(reads).toBe(2)
  })

  it('copies a node shared by two places twice', () => {
    const shared = { a: 1 }
    const copy = snapshotJson({ x: shared, y: shared }) as { x: object; y: object }
    expect(copy).toEqual({ x: { a: 1 }, y: { a: 1 } })
    expect(copy.x).not.toBe(copy.y)
  })

  it('keeps a key named __proto__ as data', () => {
    const copy = snapshotJson(JSON.parse('{"__proto__":{"admin":true},"a":1}')) as Record<string, unknown>
    expect(Object.keys(copy)).toEqual(['__proto__', 'a'])
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype)
    expect(copy.admin).toBeUndefined()
  })

  it('accepts objects without a prototype and values of another realm', () => {
    expect(snapshotJson(Object.assign(Object.create(null), { a: 1 }))).toEqual({ a: 1 })
    expect(snapshotJson(runInNewContext('({ a: [1, { b: null }] })'))).toEqual({ a: [1, { b: null }] })
  })

  it.each([
    ['undefined', { a: [undefined] }, 'a[0]', 'undefined is not JSON'],
    ['a function', { a: () => 1 }, 'a', 'function is not JSON'],
    ['a symbol', [Symbol('s')], '[0]', 'symbol is not JSON'],
    ['a bigint', { a: { b: 1n } }, 'a.b', 'bigint is not JSON'],
    ['NaN', [Number.NaN], '[0]', 'NaN is not JSON'],
    ['an infinite number', { rows: [{ when: -Infinity }] }, 'rows[0].when', '-Infinity is not JSON'],
    ['-0', { a: -0 }, 'a', '-0 is not JSON'],
    // oxlint-disable-next-line no-sparse-arrays
    ['a sparse array', { a: [1, , 2] }, 'a', 'a sparse array is not JSON'],
    ['a decorated array', { a: Object.assign([1], { extra: 1 }) }, 'a', 'an array with extra properties is not JSON'],
    [
      'a long decorated array',
      Object.assign(Array(99).fill(1), { x: 1 }),
      '',
      'an array with extra properties is not JSON',
    ],
    ['a symbol key', { a: { [Symbol('k')]: 1 } }, 'a', 'an object with symbol keys is not JSON'],
    [
      'a hidden key',
      Object.defineProperty({}, 'k', { value: 1 }),
      '',
      'an object with non-enumerable keys is not JSON',
    ],
    ['a date', { at: new Date(0) }, 'at', 'an instance of Date is not JSON'],
    ['a map', new Map(), '', 'an instance of Map is not JSON'],
    ['an array subclass', new (class Rows extends Array {})(), '', 'an instance of Rows is not JSON'],
    ['a forged prototype', Object.create({ a: 1 }), '', 'an object with a prototype of its own is not JSON'],
  ])('refuses %s and says where', (_, value, path, reason) => {
    expect(refusal(value)).toEqual({ path, message: path === '' ? reason : `at "${path}": ${reason}` })
  })

  it('refuses an impostor that only claims to be the Object of another realm', () => {
    const prototype = {}
    const Impostor = Object.defineProperty(function () {}, 'name', { value: 'Object' })
    Impostor.prototype = prototype
    Object.defineProperty(prototype, 'constructor', { value: Impostor })
    expect(refusal(Object.create(prototype)).message).toBe('an instance of Object is not JSON')
  })

  it('names the place where an accessor threw', () => {
    const value = {
      a: {
        get b(): unknown {
          throw new Error('boo')
        },
      },
    }
    expect(refusal(value)).toEqual({ path: 'a.b', message: 'at "a.b": reading it threw: boo' })
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    expect(refusal([proxy]).path).toBe('[0]')
  })

  it('tells a cycle from mere depth', () => {
    const inner: Record<string, unknown> = {}
    const loop = { list: [inner] }
    inner.back = loop
    expect(refusal(loop)).toEqual({ path: 'list[0].back', message: 'at "list[0].back": a cycle is not JSON' })
    const nested = (depth: number): unknown => (depth === 0 ? 1 : [nested(depth - 1)])
    expect(snapshotJson(nested(512))).toEqual(nested(512))
    expect(refusal(nested(513)).message).toContain('nested deeper than 512 levels')
    expect(refusal(nested(3), { maxDepth: 2 }).message).toContain('nested deeper than 2 levels')
  })
})
