// Arguments that no honest model sends: names of the prototype, broken texts, depth, size, and things that are no JSON.
import type { Json, JsonSchema } from '@deepseek-ai/dsh-tools'
import { isObject, withProperty } from './near-valid.ts'

export interface HostileArguments {
  readonly what: string
  /** `undefined` members, accessors and the like included: not always JSON. */
  readonly args: unknown
  /** Valid arguments with an undeclared property more: as good to run as the valid ones. */
  readonly extra?: true
  /** The declared parameter whose value is hostile. */
  readonly key?: string
}

/** Set by an argument that manages to pollute a prototype. */
export const POLLUTION = 'testkitPolluted'

const NAMES = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'toJSON', 'then', '', '0', '$ref']

const TEXTS: readonly [what: string, text: string][] = [
  ['a lone high surrogate', 'a\u{d800}b'],
  ['a lone low surrogate', '\u{dc00}'],
  ['a NUL', 'a\0b'],
  ['control characters', '\u001b[2J\u0007\r\n\u2028\u2029'],
  ['a right-to-left override', '\u202egnp.exe'],
  ['a very long string', 'x'.repeat(1_000_000)],
  ['a path that climbs', `${'../'.repeat(64)}testkit-nowhere`],
  ['a format', '%s%n%x${process.exit()}{{7*7}}'],
]

const NUMBERS: readonly number[] = [
  Number.MAX_VALUE,
  -Number.MAX_VALUE,
  Number.MIN_VALUE,
  2 ** 53,
  -(2 ** 31) - 1,
  1e21,
]

/** `valid` with something hostile in one place, or something hostile instead of it. */
export function hostileArguments(schema: JsonSchema, valid: Json): HostileArguments[] {
  const made: HostileArguments[] = [
    ...noJson(),
    { what: 'deep nesting', args: nested(400) },
    { what: 'a deeper one', args: nested(5000) },
  ]
  if (!isObject(valid)) return made
  const properties = schema.properties ?? {}
  const extra = (name: string): { extra?: true } => (Object.hasOwn(properties, name) ? {} : { extra: true })
  for (const name of NAMES) {
    made.push({
      what: `a property named "${name}"`,
      args: withProperty(valid, name, { [POLLUTION]: true }),
      ...extra(name),
    })
  }
  // As `JSON.parse` would make it, and as a careless merge would follow it.
  const prototype = { prototype: { [POLLUTION]: true } }
  made.push({
    what: 'constructor.prototype',
    args: withProperty(valid, 'constructor', prototype),
    ...extra('constructor'),
  })
  made.push({
    what: 'a deep extra property',
    args: withProperty(valid, 'testkitExtra', nested(400)),
    ...extra('testkitExtra'),
  })
  for (const key of Object.keys(properties)) {
    made.push(...hostileValues(key).map(([what, item]) => ({ what, key, args: withProperty(valid, key, item) })))
  }
  return made
}

function hostileValues(key: string): [what: string, value: Json][] {
  return [
    ...TEXTS.map(([what, text]): [string, Json] => [`${what} as "${key}"`, text]),
    ...NUMBERS.map((number): [string, Json] => [`${number} as "${key}"`, number]),
    [`deep nesting as "${key}"`, nested(400)],
    [`a polluting object as "${key}"`, JSON.parse(`{"__proto__":{"${POLLUTION}":true}}`) as Json],
    [`many items as "${key}"`, Array.from({ length: 10_000 }, (_, index) => index)],
  ]
}

function nested(depth: number): Json {
  let value: Json = 'end'
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? { a: value } : [value]
  return isObject(value) ? value : { a: value }
}

/** What a caller in the same process could pass: the registry refuses it before the tool is asked. */
function noJson(): HostileArguments[] {
  const cycle: Record<string, unknown> = {}
  cycle['self'] = cycle
  const revoked = Proxy.revocable({}, {})
  revoked.revoke()
  return [
    { what: 'a cycle', args: cycle },
    { what: 'a throwing getter', args: Object.defineProperty({}, 'a', { enumerable: true, get: throwing }) },
    { what: 'a revoked proxy', args: revoked.proxy },
    { what: 'a function', args: { a: () => undefined } },
    { what: 'a bigint', args: { a: 1n } },
    { what: 'NaN', args: { a: Number.NaN } },
    { what: 'a date', args: { a: new Date(0) } },
    { what: 'undefined', args: undefined },
  ]
}

function throwing(): never {
  throw new Error('a getter of the arguments threw')
}
