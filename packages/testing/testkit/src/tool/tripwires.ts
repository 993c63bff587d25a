// Runs synchronous functions while clock, random numbers, timers and I/O of this process are wired to throw and to be remembered.
// Remembered, since whoever calls a presenter swallows what it throws.
import childProcess from 'node:child_process'
import crypto from 'node:crypto'
import dns from 'node:dns'
import fs from 'node:fs'
import http from 'node:http'
import https from 'node:https'
import { syncBuiltinESMExports } from 'node:module'
import net from 'node:net'
import os from 'node:os'

export interface Watched<T> {
  readonly value: T | undefined
  /** What `body` threw, if it did. */
  readonly thrown: { error: unknown } | undefined
  /** Ambient things that it reached for, in order, each once, e.g. `Date.now()`. */
  readonly reached: readonly string[]
}

/**
 * Runs `work` with every wire set and hands it `watch`, which tells apart what each body reached for: setting the wires costs more
 * than most bodies. Whatever happens, the process is as before when this returns.
 */
export function withTripwires<T>(work: (watch: <V>(body: () => V) => Watched<V>) => T): T {
  const reached = new Set<string>()
  const undo: (() => void)[] = []
  const watch = <V>(body: () => V): Watched<V> => {
    reached.clear()
    let value: V | undefined
    let thrown: { error: unknown } | undefined
    try {
      value = body()
    } catch (error) {
      thrown = { error }
    }
    return { value, thrown, reached: [...reached] }
  }
  try {
    setWires((name) => reached.add(name), undo)
    syncBuiltinESMExports()
    return work(watch)
  } finally {
    for (const restore of undo.toReversed()) restore()
    syncBuiltinESMExports()
  }
}

type Note = (name: string) => void
type Holder = Record<string, unknown>

function setWires(note: Note, undo: (() => void)[]): void {
  const wire = (holder: object, keys: readonly string[], label: string): void => {
    for (const key of keys) replace(holder as Holder, key, tripping(`${label}${key}()`, note), undo)
  }
  replace(globalThis, 'Date', trippingDate(note), undo)
  wire(Math, ['random'], 'Math.')
  wire(performance, ['now'], 'performance.')
  wire(globalThis, ['fetch', 'setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask'], '')
  wire(console, ['log', 'info', 'warn', 'error', 'debug'], 'console.')
  wire(process, ['cwd', 'chdir', 'hrtime', 'nextTick', 'uptime', 'memoryUsage', 'cpuUsage'], 'process.')
  wire(crypto, ['randomUUID', 'randomBytes', 'randomInt', 'randomFillSync', 'randomFill', 'getRandomValues'], 'crypto.')
  wire(Object.getPrototypeOf(globalThis.crypto) as object, ['randomUUID', 'getRandomValues'], 'crypto.')
  wire(fs, functionsOf(fs), 'fs.')
  wire(fs.promises, functionsOf(fs.promises), 'fs.promises.')
  wire(childProcess, functionsOf(childProcess), 'child_process.')
  wire(net, ['connect', 'createConnection', 'createServer'], 'net.')
  wire(http, ['get', 'request'], 'http.')
  wire(https, ['get', 'request'], 'https.')
  wire(dns, ['lookup', 'resolve'], 'dns.')
  wire(os, functionsOf(os), 'os.')
}

/** Names of the functions of a module that are no classes. */
function functionsOf(module: object): string[] {
  return Object.entries(module).flatMap(([key, value]) =>
    typeof value === 'function' && /^[a-z]/.test(key) ? [key] : [],
  )
}

function tripping(name: string, note: Note): () => never {
  const trip = (): never => {
    note(name)
    throw new Error(`${name} is out of reach here`)
  }
  // `process.hrtime.bigint` and `fs.realpathSync.native` hang on the functions themselves.
  return Object.assign(trip, { bigint: trip, native: trip })
}

/** The present is out of reach, any other date is not. */
function trippingDate(note: Note): DateConstructor {
  return new Proxy(Date, {
    construct(target, args, newTarget) {
      if (args.length === 0) tripping('new Date()', note)()
      return Reflect.construct(target, args, newTarget) as object
    },
    apply: tripping('Date()', note),
    get(target, key, receiver) {
      return key === 'now' ? tripping('Date.now()', note) : (Reflect.get(target, key, receiver) as unknown)
    },
  })
}

function replace(holder: Holder, key: string, value: unknown, undo: (() => void)[]): void {
  const before = Object.getOwnPropertyDescriptor(holder, key)
  if (before !== undefined && before.configurable !== true && before.writable !== true) return
  try {
    if (before?.configurable === false) {
      const plain = holder[key]
      holder[key] = value
      undo.push(() => (holder[key] = plain))
      return
    }
    Object.defineProperty(holder, key, {
      value,
      configurable: true,
      enumerable: before?.enumerable ?? true,
      writable: true,
    })
    undo.push(() => {
      if (before === undefined) delete holder[key]
      else Object.defineProperty(holder, key, before)
    })
  } catch {
    // this platform does not let the function be replaced: one wire less
  }
}
