// The QuickJS of one worker: instantiated once, a fresh runtime and context for every run.
import releaseSync from '@jitl/quickjs-wasmfile-release-sync'
import { newVariant, type QuickJSSyncVariant } from 'quickjs-emscripten-core'
import { PARTS, PRELUDE } from '../guest/prelude.ts'
import type { Call } from '../protocol.ts'
import type { Bridge, GuestHost } from '../guest/bridge.ts'
import { Memory, type CompiledModule, type LinearMemory } from '../web-assembly.ts'
import { NotJson, readBinaryJson } from './binary-json.ts'
import { GuestError, Vm, VmModule, type Borrowed, type HostFunction, type Value } from './vm.ts'
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
  readonly module: VmModule
  readonly memory: LinearMemory
  readonly maxMemoryMb: number
}

export async function startEngine(wasm: CompiledModule, maxMemoryMb: number): Promise<Engine> {
  const maximum = Math.min(Math.ceil(((maxMemoryMb + OWN_MIB) * MIB) / PAGE), 32_768)
  const memory = new Memory({ initial: FIRST_PAGES, maximum })
  const silent = (): void => {}
  const module = await VmModule.start(
    newVariant(variant, {
      // Why the casts: see `web-assembly.ts`; and the printers are emscripten's, unknown to these types.
      wasmModule: wasm as never,
      wasmMemory: memory as never,
      emscriptenModule: { print: silent, printErr: silent } as object,
    }),
  )
  return { module, memory, maxMemoryMb }
}

export const isSpent = (engine: Engine): boolean => engine.memory.buffer.byteLength > SPENT_BYTES

/** The part of the guest's host that a run answers. */
export type RunHost = Pick<GuestHost, 'fail' | 'log' | 'startTimer' | 'stopTimer'> & {
  call(call: Call): string | undefined
  done(value: string | undefined): void
}

type Entry = keyof Bridge | 'fire'

export interface Thrown {
  name: string
  message: string
  stack: string
}

/** One fresh context with its prelude. Everything but `dispose` may throw what breaks out of the engine: the worker is lost then. */
export class Guest {
  private readonly vm: Vm
  private readonly entries = new Map<Entry, Value>()
  private host: RunHost | undefined
  /** JSON of the bindings that it has; undefined before `install`. */
  bindings: string | undefined

  constructor(engine: Engine) {
    this.vm = new Vm(engine.module, { memoryBytes: engine.maxMemoryMb * MIB, stackBytes: STACK_BYTES })
    const made = this.evaluated(PRELUDE)
    const host = this.offer()
    const { value: entries, error } = this.vm.call(made, host)
    if (error !== undefined) throw new Error(`the prelude failed: ${this.consumeError(error).message}`)
    const names: Entry[] = ['install', 'start', 'settle', 'fail', 'fire']
    for (const name of names) this.entries.set(name, this.vm.property(entries, name))
    for (const value of [made, host, entries]) this.vm.free(value)
  }

  attach(host: RunHost, mustStop: () => boolean): void {
    this.host = host
    this.vm.onInterrupt(mustStop)
  }

  /** Once, before a program starts. Returns what it threw: only the uncatchable. */
  install(bindings: string): Thrown | undefined {
    this.bindings = bindings
    return this.enter('install', bindings)
  }

  /** Evaluates the wrapped program and starts it. Returns what a syntax error says. */
  startProgram(code: string, file: string): Thrown | undefined {
    const made = this.vm.evaluate(code, file)
    if (made.error !== undefined) return this.consumeError(made.error)
    const started = this.call('start', made.value)
    this.vm.free(made.value)
    return started
  }

  /** Calls an entry point. Returns what it threw: only the uncatchable, since entries catch the rest. */
  enter(name: Entry, argument: string | number): Thrown | undefined {
    const value = typeof argument === 'string' ? this.vm.text(argument) : this.vm.number(argument)
    const thrown = this.call(name, value)
    this.vm.free(value)
    return thrown
  }

  get hasPendingJob(): boolean {
    return this.vm.hasPendingJob
  }

  runJobs(limit: number): void {
    this.vm.runJobs(limit)
  }

  memoryUsage(): string {
    return this.vm.memoryUsage()
  }

  dispose(): void {
    this.host = undefined
    for (const value of this.entries.values()) this.vm.free(value)
    this.vm.dispose()
  }

  private call(name: Entry, argument: Borrowed): Thrown | undefined {
    const { value, error } = this.vm.call(this.entries.get(name) as Value, argument)
    if (error !== undefined) return this.consumeError(error)
    this.vm.free(value)
    return undefined
  }

  private consumeError(error: Value): Thrown {
    const read = (key: string): string => {
      const value = this.vm.property(error, key)
      const text = this.string(value)
      this.vm.free(value)
      return text
    }
    // Note: the error is the engine's own (syntax, interrupt, memory); `null` stands for "no memory even for an error".
    const told = this.vm.isObject(error)
      ? { name: read('name'), message: read('message'), stack: read('stack') }
      : { name: 'InternalError', message: 'out of memory', stack: '' }
    this.vm.free(error)
    return told
  }

  private evaluated(code: string): Value {
    const { value, error } = this.vm.evaluate(code, 'prelude')
    if (error === undefined) return value
    const { name, message } = this.consumeError(error)
    throw new GuestError(`${name}: ${message}`)
  }

  private string(value: Borrowed | undefined): string {
    const read = value === undefined ? undefined : this.read(value)
    return typeof read === 'string' ? read : ''
  }

  private number(value: Borrowed | undefined): number {
    return value === undefined ? 0 : this.vm.numberOf(value)
  }

  private isTrue(value: Borrowed | undefined): boolean {
    return value !== undefined && this.vm.same(value, this.vm.true)
  }

  /** Gives undefined when the value is not JSON. */
  private read(value: Borrowed): unknown {
    try {
      return this.vm.serialised(value, readBinaryJson)
    } catch (thrown) {
      if (thrown instanceof NotJson || thrown instanceof RangeError) return undefined
      throw thrown
    }
  }

  private json(value: Borrowed | undefined): string | undefined {
    return value === undefined ? undefined : JSON.stringify(this.read(value))
  }

  private offer(): Value {
    const { vm } = this
    const offered = vm.object()
    for (const [name, answer] of Object.entries(this.answers())) {
      const made = vm.function(name, answer)
      vm.setProperty(offered, name, made)
      vm.free(made)
    }
    return offered
  }

  private answers(): Record<keyof GuestHost, HostFunction> {
    const { vm } = this
    const refusal = (why: string | undefined): Value | undefined => (why === undefined ? undefined : vm.text(why))
    return {
      call: ([call]) => {
        const text = this.json(call)
        // Note: the id is the first number of the list.
        return text === undefined
          ? vm.text('')
          : refusal(this.host?.call({ id: Number.parseInt(text.slice(1), 10), text }))
      },
      done: ([hasValue, value]) => {
        const json = this.isTrue(hasValue) ? this.json(value) : ''
        if (json === undefined) return vm.boolean(false)
        this.host?.done(json === '' ? undefined : json)
        return vm.boolean(true)
      },
      fail: ([kind, message, stack]) => {
        const known = this.string(kind) === 'invalid-output' ? 'invalid-output' : 'exception'
        this.host?.fail(known, this.string(message), this.string(stack))
        return undefined
      },
      log: ([line]) => {
        this.host?.log(this.string(line))
        return undefined
      },
      startTimer: ([id, delay, repeats]) =>
        refusal(this.host?.startTimer(this.number(id), this.number(delay), this.isTrue(repeats))),
      stopTimer: ([id]) => {
        this.host?.stopTimer(this.number(id))
        return undefined
      },
      load: ([part]) => this.evaluated(PARTS[this.string(part)] ?? ''),
      url: ([request]) => vm.text(answerUrl(this.string(request))),
      encode: ([text]) => vm.bytes(Buffer.from(this.string(text), 'utf8')),
      decode: ([bytes, start, length, options]) => {
        const from = this.number(start)
        const size = this.number(length)
        const asked = this.string(options)
        if (bytes === undefined || size === 0) return vm.text(answerDecode(new Uint8Array(0), asked))
        const answer = vm.bytesOf(bytes, (all) => answerDecode(all.subarray(from, from + size), asked))
        if (answer === undefined) throw new GuestError('the bytes cannot be read: detached, or out of memory')
        return vm.text(answer)
      },
    }
  }
}
