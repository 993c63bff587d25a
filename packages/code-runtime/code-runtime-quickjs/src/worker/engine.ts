// The QuickJS of one worker: instantiated once, a fresh runtime and context for every run.
import releaseSync from '@jitl/quickjs-wasmfile-release-sync'
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSRuntime,
  type QuickJSSyncVariant,
  type QuickJSWASMModule,
} from 'quickjs-emscripten-core'
import { PARTS, PRELUDE } from '../guest/prelude.ts'
import type { Call } from '../protocol.ts'
import type { Bridge, GuestHost } from '../guest/bridge.ts'
import { Memory, type CompiledModule, type LinearMemory } from '../web-assembly.ts'
import { NotJson, readBinaryJson } from './binary-json.ts'
import { answerDecode, answerUrl } from './web.ts'

// Why the cast: the package describes its default export for CommonJS only.
const variant = releaseSync as unknown as QuickJSSyncVariant

const MIB = 1024 * 1024
const PAGE = 65_536
const FIRST_PAGES = 256
/** What the engine needs beside the programs' own memory. */
const OWN_MIB = 48
const STACK_BYTES = 512 * 1024

/** A worker whose memory has grown beyond this is not kept: WebAssembly memory never shrinks. */
const SPENT_BYTES = 64 * MIB

export interface Engine {
  readonly quickjs: QuickJSWASMModule
  readonly memory: LinearMemory
  readonly maxMemoryMb: number
}

export async function startEngine(wasm: CompiledModule, maxMemoryMb: number): Promise<Engine> {
  const maximum = Math.min(Math.ceil(((maxMemoryMb + OWN_MIB) * MIB) / PAGE), 32_768)
  const memory = new Memory({ initial: FIRST_PAGES, maximum })
  const silent = (): void => {}
  const quickjs = await newQuickJSWASMModuleFromVariant(
    newVariant(variant, {
      // Why the casts: see `web-assembly.ts`; and the printers are emscripten's, unknown to these types.
      wasmModule: wasm as never,
      wasmMemory: memory as never,
      emscriptenModule: { print: silent, printErr: silent } as object,
    }),
  )
  return { quickjs, memory, maxMemoryMb }
}

export const isSpent = (engine: Engine): boolean => engine.memory.buffer.byteLength > SPENT_BYTES

/** The part of the guest's host that a run answers. */
export type RunHost = Pick<GuestHost, 'fail' | 'log' | 'startTimer' | 'stopTimer'> & {
  call(call: Call): string | undefined
  done(value: string | undefined): void
}

type Entry = keyof Bridge | 'fire'

/** One fresh context with its prelude. Everything but `dispose` may throw what breaks out of the engine: the worker is lost then. */
export class Guest {
  readonly runtime: QuickJSRuntime
  private readonly context: QuickJSContext
  private readonly entries = new Map<Entry, QuickJSHandle>()
  private host: RunHost | undefined

  constructor(engine: Engine) {
    this.runtime = engine.quickjs.newRuntime()
    this.runtime.setMemoryLimit(engine.maxMemoryMb * MIB)
    this.runtime.setMaxStackSize(STACK_BYTES)
    this.context = this.runtime.newContext()
    const made = this.context.unwrapResult(this.context.evalCode(PRELUDE, 'prelude'))
    const host = this.offer()
    const entries = this.context.unwrapResult(this.context.callFunction(made, this.context.undefined, host))
    const names: Entry[] = ['install', 'start', 'settle', 'fail', 'fire']
    for (const name of names) this.entries.set(name, this.context.getProp(entries, name))
    for (const handle of [made, host, entries]) handle.dispose()
  }

  attach(host: RunHost): void {
    this.host = host
  }

  /** Evaluates the wrapped program and starts it. Returns what a syntax error says. */
  startProgram(code: string, file: string): { name: string; message: string; stack: string } | undefined {
    const made = this.context.evalCode(code, file, { strict: true })
    if (made.error !== undefined) return this.consumeError(made.error)
    const started = this.enter('start', made.value)
    made.value.dispose()
    return started
  }

  /** Calls an entry point. Returns what it threw: only the uncatchable, since entries catch the rest. */
  enter(name: Entry, ...args: (QuickJSHandle | string | number | boolean)[]): ReturnType<Guest['startProgram']> {
    const owned: QuickJSHandle[] = []
    const handles = args.map((arg) => {
      if (typeof arg === 'object') return arg
      if (typeof arg === 'boolean') return arg ? this.context.true : this.context.false
      const handle = typeof arg === 'string' ? this.text(arg) : this.context.newNumber(arg)
      owned.push(handle)
      return handle
    })
    const result = this.context.callFunction(this.entries.get(name) as QuickJSHandle, this.context.undefined, handles)
    for (const handle of owned) handle.dispose()
    if (result.error !== undefined) return this.consumeError(result.error)
    result.value.dispose()
    return undefined
  }

  /** Runs at most `limit` jobs; returns whether there may be more. */
  runJobs(limit: number): boolean {
    const result = this.runtime.executePendingJobs(limit)
    if (result.error !== undefined) result.error.dispose()
    return this.runtime.hasPendingJob()
  }

  dispose(): void {
    this.host = undefined
    for (const handle of this.entries.values()) handle.dispose()
    this.context.dispose()
    this.runtime.dispose()
  }

  private consumeError(error: QuickJSHandle): { name: string; message: string; stack: string } {
    const read = (key: string): string => {
      const handle = this.context.getProp(error, key)
      const text = this.context.typeof(handle) === 'string' ? this.context.getString(handle) : ''
      handle.dispose()
      return text
    }
    // Note: the error is the engine's own (syntax, interrupt, memory); `null` stands for "no memory even for an error".
    const isObject = this.context.typeof(error) === 'object' && !this.context.eq(error, this.context.null)
    const told = isObject
      ? { name: read('name'), message: read('message'), stack: read('stack') }
      : { name: 'InternalError', message: 'out of memory', stack: '' }
    error.dispose()
    return told
  }

  /** Note: `newString` stops at a NUL; texts that may hold one cross as JSON, which escapes it. */
  private text(text: string): QuickJSHandle {
    return this.context.newString(text)
  }

  private string(handle: QuickJSHandle | undefined): string {
    const value = handle === undefined ? undefined : this.read(handle)
    return typeof value === 'string' ? value : ''
  }

  private number(handle: QuickJSHandle | undefined): number {
    return handle === undefined ? 0 : this.context.getNumber(handle)
  }

  /** Throws `NotJson` when the value is not JSON. */
  private read(handle: QuickJSHandle): unknown {
    const serialised = this.context.encodeBinaryJSON(handle)
    try {
      return this.withBytes(serialised, readBinaryJson)
    } finally {
      serialised.dispose()
    }
  }

  /** Hands over a copy in the engine's memory that lives as long as `use`. */
  private withBytes<T>(handle: QuickJSHandle, use: (bytes: Uint8Array) => T): T {
    let copy
    try {
      copy = this.context.getArrayBuffer(handle)
    } catch (thrown) {
      throw new NotJson('the engine refused to serialise the value', { cause: thrown })
    }
    try {
      return use(copy.value)
    } finally {
      copy.dispose()
    }
  }

  private json(handle: QuickJSHandle | undefined): string | undefined {
    if (handle === undefined) return undefined
    try {
      return JSON.stringify(this.read(handle))
    } catch (thrown) {
      if (thrown instanceof NotJson || thrown instanceof RangeError) return undefined
      throw thrown
    }
  }

  private offer(): QuickJSHandle {
    const { context } = this
    const offered = context.newObject()
    const add = (name: keyof GuestHost, answer: (...args: QuickJSHandle[]) => QuickJSHandle | undefined): void => {
      const made = context.newFunction(name, answer)
      context.setProp(offered, name, made)
      made.dispose()
    }
    const refusal = (why: string | undefined): QuickJSHandle | undefined =>
      why === undefined ? undefined : this.text(why)
    add('call', (call) => {
      const text = this.json(call)
      // Note: the id is the first number of the list.
      return text === undefined
        ? this.text('')
        : refusal(this.host?.call({ id: Number.parseInt(text.slice(1), 10), text }))
    })
    add('done', (hasValue, value) => {
      const json = hasValue !== undefined && context.eq(hasValue, context.true) ? this.json(value) : ''
      if (json === undefined) return context.false
      this.host?.done(json === '' ? undefined : json)
      return context.true
    })
    add('fail', (kind, message, stack) => {
      const known = this.string(kind) === 'invalid-output' ? 'invalid-output' : 'exception'
      this.host?.fail(known, this.string(message), this.string(stack))
      return undefined
    })
    add('log', (line) => {
      this.host?.log(this.string(line))
      return undefined
    })
    add('startTimer', (id, delay, repeats) => {
      const again = repeats !== undefined && context.eq(repeats, context.true)
      return refusal(this.host?.startTimer(this.number(id), this.number(delay), again))
    })
    add('stopTimer', (id) => {
      this.host?.stopTimer(this.number(id))
      return undefined
    })
    add('load', (part) => {
      const made = context.unwrapResult(context.evalCode(PARTS[this.string(part)] ?? '', 'prelude'))
      return made
    })
    add('url', (request) => this.text(answerUrl(this.string(request))))
    add('encode', (text) => {
      const bytes = Buffer.from(this.string(text), 'utf8')
      return context.newArrayBuffer(Uint8Array.from(bytes).buffer)
    })
    add('decode', (bytes, start, length, options) => {
      if (bytes === undefined) return this.text('{}')
      const from = this.number(start)
      const size = this.number(length)
      const asked = this.string(options)
      if (size === 0) return this.text(answerDecode(new Uint8Array(0), asked))
      return this.text(this.withBytes(bytes, (all) => answerDecode(all.subarray(from, from + size), asked)))
    })
    return offered
  }
}
