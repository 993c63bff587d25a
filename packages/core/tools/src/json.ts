// The lossless JSON boundary: one pass that validates, detaches and freezes a value. Nothing here knows about schemas.
import { errorMessage } from '@deepseek-ai/cordis'
import { JsonValueError } from './errors.ts'
import type { Json } from './presentation.ts'

export interface SnapshotOptions {
  /** Deeply freezes the copy. Default true. */
  freeze?: boolean
  /** Containers that may be nested in one another. Default 512. */
  maxDepth?: number
}

type Container = readonly unknown[] | Readonly<Record<string, unknown>>

export const DEFAULT_MAX_DEPTH = 512

/**
 * Copies a value that survives JSON unchanged: nulls, booleans, strings, finite numbers except -0, dense plain arrays and plain
 * objects. Accessors are read exactly once. Throws `JsonValueError` (`NOT_LOSSLESS_JSON`) naming the first place that is anything
 * else; a throwing accessor counts as such a place.
 */
export function snapshotJson(value: unknown, options: SnapshotOptions = {}): Json {
  const outcome = attemptSnapshot(value, options)
  if (outcome instanceof JsonProblem) throw new JsonValueError(outcome.path, outcome.reason)
  return outcome
}

/** `snapshotJson` that returns what is wrong instead of throwing it. */
export function attemptSnapshot(value: unknown, options: SnapshotOptions = {}): Json | JsonProblem {
  if (typeof value !== 'object' || value === null) {
    const reason = scalarProblem(value)
    return reason === undefined ? (value as Json) : new JsonProblem('', reason)
  }
  const freeze = options.freeze ?? true
  try {
    return copyContainer(value, freeze, options.maxDepth ?? DEFAULT_MAX_DEPTH) as Json
  } catch (thrown) {
    return toProblem(thrown, value)
  }
}

/** Where a value stops being lossless JSON, and why. */
export class JsonProblem {
  readonly path: string
  readonly reason: string

  constructor(path: string, reason: string) {
    this.path = path
    this.reason = reason
  }
}

/** True when `snapshotJson` accepts the value. */
export function isLosslessJson(value: unknown): value is Json {
  return !(attemptSnapshot(value, { freeze: false }) instanceof JsonProblem)
}

// Note: the two loops below are hot. Each keeps its key to itself and calls out only for nested containers and for refusals;
// a `try` around them, or a key declared outside, costs more than the copying.

function copyContainer(source: object, freeze: boolean, depthLeft: number): Container {
  if (depthLeft === 0) throw new Rejection('', true)
  return Array.isArray(source)
    ? copyArray(source, freeze, depthLeft - 1)
    : copyObject(source as Record<string, unknown>, freeze, depthLeft - 1)
}

function copyObject(source: Record<string, unknown>, freeze: boolean, depthLeft: number): Container {
  const prototype: unknown = Object.getPrototypeOf(source)
  if (prototype !== Object.prototype && prototype !== null && !isIntrinsic(prototype, 'Object')) {
    throw new Rejection(instanceReason(prototype))
  }
  const copy: Record<string, unknown> = {}
  let count = 0
  // Note: for-in walks V8's cached list of keys, at a third of the cost of making one. The count below rules out what it
  // sees beyond own enumerable string keys.
  for (const key in source) {
    count++
    let item = source[key]
    if (typeof item === 'object' && item !== null) item = copyNested(item, source, key, freeze, depthLeft)
    else if (typeof item !== 'string' && typeof item !== 'boolean' && !isPlainNumber(item)) refuse(item, source, key)
    if (key === '__proto__') define(copy, key, item)
    else copy[key] = item
  }
  if (!hasOnlyPlainKeys(source, count)) throw new Rejection(hiddenKeyReason(source))
  return freeze ? Object.freeze(copy) : copy
}

function copyArray(source: readonly unknown[], freeze: boolean, depthLeft: number): Container {
  const prototype: unknown = Object.getPrototypeOf(source)
  if (prototype !== Array.prototype && !isIntrinsic(prototype, 'Array')) throw new Rejection(instanceReason(prototype))
  if (Object.keys(source).length !== source.length) throw new Rejection(arrayShapeReason(source))
  // Note: slice and overwrite keeps the element kind of the source, which is several times faster than pushing.
  const copy: unknown[] = Array.prototype.slice.call(source)
  for (let index = 0; index < copy.length; index++) {
    const item = copy[index]
    if (typeof item === 'object' && item !== null) copy[index] = copyNested(item, source, index, freeze, depthLeft)
    else if (typeof item !== 'string' && typeof item !== 'boolean' && !isPlainNumber(item)) refuse(item, source, index)
  }
  return freeze ? Object.freeze(copy) : copy
}

function copyNested(
  item: object,
  container: object,
  segment: string | number,
  freeze: boolean,
  depthLeft: number,
): Container {
  try {
    return copyContainer(item, freeze, depthLeft)
  } catch (thrown) {
    throw located(rejectionOf(thrown, item), container, segment)
  }
}

/** A dense array of its own with the items of a plain one; undefined for anything else. The items are not looked at. */
export function copyItems(source: unknown): unknown[] | undefined {
  if (!Array.isArray(source) || Object.getPrototypeOf(source) !== Array.prototype) return undefined
  return Object.keys(source).length === source.length ? Array.prototype.slice.call(source) : undefined
}

/** Assignment of this name would set the prototype instead of a property. */
function define(copy: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(copy, key, { value, enumerable: true, configurable: true, writable: true })
}

function isPlainNumber(value: unknown): boolean {
  return typeof value === 'number' && Number.isFinite(value) && (value !== 0 || !Object.is(value, -0))
}

/** Throws for what is no scalar of JSON; null passes. */
function refuse(item: unknown, container: object, segment: string | number): void {
  const reason = scalarProblem(item)
  if (reason !== undefined) throw located(new Rejection(reason), container, segment)
}

/** True when every own key is an enumerable string. Two narrow questions cost a third of one `Reflect.ownKeys`. */
export function hasOnlyPlainKeys(record: object, keyCount: number): boolean {
  return Object.getOwnPropertyNames(record).length === keyCount && Object.getOwnPropertySymbols(record).length === 0
}

function scalarProblem(value: unknown): string | undefined {
  switch (typeof value) {
    case 'number':
      if (Number.isFinite(value)) return Object.is(value, -0) ? '-0 is not JSON' : undefined
      return `${value} is not JSON`
    case 'undefined':
    case 'function':
    case 'symbol':
    case 'bigint':
      return `${typeof value} is not JSON`
    default:
      return undefined
  }
}

/** Values of another realm (a worker, a vm context) have that realm's `Object.prototype`; impostors lack its native constructor. */
function isIntrinsic(prototype: unknown, name: 'Object' | 'Array'): boolean {
  if (typeof prototype !== 'object' || prototype === null) return false
  const constructor: unknown = Object.getOwnPropertyDescriptor(prototype, 'constructor')?.value
  return (
    typeof constructor === 'function' &&
    constructor.name === name &&
    constructor.prototype === prototype &&
    Function.prototype.toString.call(constructor) === `function ${name}() { [native code] }`
  )
}

function instanceReason(prototype: unknown): string {
  const constructor: unknown =
    typeof prototype === 'object' && prototype !== null
      ? Object.getOwnPropertyDescriptor(prototype, 'constructor')?.value
      : undefined
  const name = typeof constructor === 'function' ? constructor.name : ''
  return name === '' ? 'an object with a prototype of its own is not JSON' : `an instance of ${name} is not JSON`
}

function hiddenKeyReason(source: object): string {
  return Object.getOwnPropertySymbols(source).length > 0
    ? 'an object with symbol keys is not JSON'
    : 'an object with non-enumerable keys is not JSON'
}

function arrayShapeReason(source: readonly unknown[]): string {
  return Object.getOwnPropertyNames(source).length > source.length + 1
    ? 'an array with extra properties is not JSON'
    : 'a sparse array is not JSON'
}

/** What is wrong and, filled in while the stack unwinds, where. Not an Error: its stack would be paid for and never read. */
class Rejection {
  readonly reason: string
  /** The depth cap was hit, so a cycle is likely. */
  readonly tooDeep: boolean
  /** Innermost first, in step with `containers`. */
  readonly segments: (string | number)[] = []
  readonly containers: object[] = []

  constructor(reason: string, tooDeep = false) {
    this.reason = reason
    this.tooDeep = tooDeep
  }
}

function located(rejection: Rejection, container: object, segment: string | number): Rejection {
  rejection.segments.push(segment)
  rejection.containers.push(container)
  return rejection
}

/** What a container threw while it was read; an accessor that throws is looked for only now. */
function rejectionOf(thrown: unknown, container: object): Rejection {
  if (thrown instanceof Rejection) return thrown
  const rejection = new Rejection(`reading it threw: ${errorMessage(thrown)}`)
  const key = throwingKey(container)
  return key === undefined ? rejection : located(rejection, container, key)
}

function throwingKey(container: object): string | undefined {
  try {
    return Object.keys(container).find((key) => {
      try {
        void Reflect.get(container, key)
        return false
      } catch {
        return true
      }
    })
  } catch {
    return undefined // a proxy refuses even to list its keys
  }
}

function toProblem(thrown: unknown, root: object): JsonProblem {
  const { segments: innermostFirst, containers, reason, tooDeep } = rejectionOf(thrown, root)
  const segments = innermostFirst.toReversed()
  if (!tooDeep) return new JsonProblem(jsonPath(segments), reason)
  const seen = new Set<object>()
  const outermostFirst = containers.toReversed()
  const repeat = outermostFirst.findIndex((container) => seen.size === seen.add(container).size)
  if (repeat !== -1) return new JsonProblem(jsonPath(segments.slice(0, repeat)), 'a cycle is not JSON')
  return new JsonProblem(jsonPath(segments.slice(0, 8)), `nested deeper than ${segments.length} levels`)
}

/** `rows[3].when` for `['rows', 3, 'when']`. */
export function jsonPath(segments: readonly (string | number)[]): string {
  let path = ''
  for (const segment of segments) {
    if (typeof segment === 'number') path += `[${segment}]`
    else path += path === '' ? segment : `.${segment}`
  }
  return path
}
