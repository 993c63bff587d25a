// One runtime and context of the engine, on the bare functions of its WebAssembly build. A value is an address; who got one frees it.
// Why not the library's handles: a call through them costs several microseconds, more than what the engine itself does in it.
import type {
  BorrowedHeapCharPointer,
  EmscriptenModuleLoader,
  EvalDetectModule,
  EvalFlags,
  HostRefId,
  IntrinsicsFlags,
  IsEqualOp,
  JSContextPointer,
  JSContextPointerPointer,
  JSRuntimePointer,
  JSValueConstPointer,
  JSValueConstPointerPointer,
  JSValuePointer,
  JSVoidPointer,
  OwnedHeapCharPointer,
  QuickJSEmscriptenModule,
  QuickJSSyncVariant,
} from 'quickjs-emscripten-core'

type Ffi = InstanceType<Awaited<ReturnType<QuickJSSyncVariant['importFFI']>>>

/** Owned: to be freed. */
export type Value = JSValuePointer
/** Borrowed: an argument or a constant. */
export type Borrowed = JSValuePointer | JSValueConstPointer
/** Answers a call out of the guest. The engine owns what it returns; nothing stands for `undefined`. */
export type HostFunction = (args: readonly Borrowed[]) => Value | undefined
export type Outcome =
  | { readonly value: Value; readonly error?: never }
  | { readonly value?: never; readonly error: Value }

const NULL = 0
const ALL_INTRINSICS = 0 as IntrinsicsFlags
const NO_MODULE = 0 as EvalDetectModule
const STRICT_SCRIPT = 8 as EvalFlags
const STRICTLY_EQUAL = 0 as IsEqualOp
const POINTER_BYTES = 4

/** The instantiated build, with the functions of the host that its guests may call. */
export class VmModule {
  readonly module: QuickJSEmscriptenModule
  readonly ffi: Ffi
  /** Room for the argument of a call into a guest, which copies it at once, so that calls may nest. */
  readonly argv: JSValueConstPointerPointer
  /** Room for the context of the last job, which nobody asks for. */
  readonly jobContext: JSContextPointerPointer
  private readonly functions = new Map<number, HostFunction>()
  private readonly interrupts = new Map<JSRuntimePointer, () => boolean>()
  private lastId = 0

  static async start(variant: QuickJSSyncVariant): Promise<VmModule> {
    const [imported, FFI] = await Promise.all([variant.importModuleLoader(), variant.importFFI()])
    // Why the cast: what `newVariant` makes has been unwrapped from its module.
    const module = await (imported as EmscriptenModuleLoader<QuickJSEmscriptenModule>)()
    return new VmModule(module, new FFI(module))
  }

  private constructor(module: QuickJSEmscriptenModule, ffi: Ffi) {
    this.module = module
    this.ffi = ffi
    this.argv = module._malloc(POINTER_BYTES) as JSValueConstPointerPointer
    this.jobContext = module._malloc(POINTER_BYTES) as JSContextPointerPointer
    const refused = (): never => {
      throw new Error('the engine loads no modules')
    }
    module.callbacks = {
      callFunction: (_asyncify, context, _this, count, argv, id) => this.answer(context, count, argv, id),
      freeHostRef: (_asyncify, _runtime, id) => void this.functions.delete(id),
      shouldInterrupt: (_asyncify, runtime) => (this.interrupts.get(runtime)?.() === true ? 1 : 0),
      loadModuleSource: refused,
      normalizeModule: refused,
    }
  }

  register(answer: HostFunction): HostRefId {
    this.lastId += 1
    this.functions.set(this.lastId, answer)
    return this.lastId as HostRefId
  }

  onInterrupt(runtime: JSRuntimePointer, mustStop: (() => boolean) | undefined): void {
    if (mustStop === undefined) this.interrupts.delete(runtime)
    else this.interrupts.set(runtime, mustStop)
  }

  private answer(context: JSContextPointer, count: number, argv: JSValueConstPointer, id: HostRefId): Value {
    const { ffi } = this
    try {
      const args: Borrowed[] = []
      for (let index = 0; index < count; index += 1) args.push(ffi.QTS_ArgvGetJSValueConstPointer(argv, index))
      return this.functions.get(id)?.(args) ?? (NULL as Value)
    } catch (thrown) {
      if (!(thrown instanceof GuestError)) throw thrown // the engine itself broke; its run ends with it
      const error = ffi.QTS_NewError(context)
      const key = this.text(context, 'message')
      const message = this.text(context, thrown.message)
      ffi.QTS_SetProp(context, error, key, message)
      const raised = ffi.QTS_Throw(context, error)
      for (const each of [error, key, message]) ffi.QTS_FreeValuePointer(context, each)
      return raised
    }
  }

  /** Note: it ends at a NUL; texts that may hold one cross as JSON, which escapes it. */
  text(context: JSContextPointer, text: string): Value {
    const { address } = this.allocate(text)
    const value = this.ffi.QTS_NewString(context, address)
    this.module._free(address)
    return value
  }

  /** The text in the engine's memory, for the caller to free. */
  allocate(text: string): { address: BorrowedHeapCharPointer; length: number } {
    const { module } = this
    const length = module.lengthBytesUTF8(text)
    const address = module._malloc(length + 1) as OwnedHeapCharPointer
    if (address === NULL) throw new Error('out of memory: no room for a text')
    module.stringToUTF8(text, address, length + 1)
    return { address, length }
  }
}

/** What a host function throws to make its caller in the guest see an error with this message. */
export class GuestError extends Error {}

export class Vm {
  readonly undefined: Borrowed
  readonly true: Borrowed
  readonly false: Borrowed
  private readonly host: VmModule
  private readonly ffi: Ffi
  private readonly runtime: JSRuntimePointer
  private readonly context: JSContextPointer

  constructor(host: VmModule, limits: { memoryBytes: number; stackBytes: number }) {
    const { ffi } = host
    this.host = host
    this.ffi = ffi
    this.runtime = ffi.QTS_NewRuntime()
    ffi.QTS_RuntimeSetMemoryLimit(this.runtime, limits.memoryBytes)
    ffi.QTS_RuntimeSetMaxStackSize(this.runtime, limits.stackBytes)
    this.context = ffi.QTS_NewContext(this.runtime, ALL_INTRINSICS)
    this.undefined = ffi.QTS_GetUndefined()
    this.true = ffi.QTS_GetTrue()
    this.false = ffi.QTS_GetFalse()
  }

  /** The engine asks this every few thousand operations; true makes it throw what no program can catch. */
  onInterrupt(mustStop: () => boolean): void {
    this.host.onInterrupt(this.runtime, mustStop)
    this.ffi.QTS_RuntimeEnableInterruptHandler(this.runtime)
  }

  evaluate(code: string, file: string): Outcome {
    const { address, length } = this.host.allocate(code)
    const result = this.ffi.QTS_Eval(this.context, address, length, file, NO_MODULE, STRICT_SCRIPT)
    this.host.module._free(address)
    return this.outcome(result)
  }

  call(callee: Borrowed, argument: Borrowed): Outcome {
    const { argv, module } = this.host
    new Uint32Array(module.HEAPU8.buffer, argv, 1)[0] = argument
    return this.outcome(this.ffi.QTS_Call(this.context, callee, this.undefined, 1, argv))
  }

  get hasPendingJob(): boolean {
    return this.ffi.QTS_IsJobPending(this.runtime) !== 0
  }

  /** Runs at most `limit` jobs. A job that throws what cannot be caught ends the round. */
  runJobs(limit: number): void {
    const result = this.ffi.QTS_ExecutePendingJob(this.runtime, limit, this.host.jobContext)
    this.ffi.QTS_FreeValuePointerRuntime(this.runtime, result)
  }

  /** Note: it ends at a NUL; texts that may hold one cross as JSON, which escapes it. */
  text(text: string): Value {
    return this.host.text(this.context, text)
  }

  number(number: number): Value {
    return this.ffi.QTS_NewFloat64(this.context, number)
  }

  boolean(boolean: boolean): Value {
    return this.ffi.QTS_DupValuePointer(this.context, boolean ? this.true : this.false)
  }

  object(): Value {
    return this.ffi.QTS_NewObject(this.context)
  }

  bytes(bytes: Uint8Array): Value {
    const { module } = this.host
    const address = module._malloc(Math.max(1, bytes.length)) as JSVoidPointer
    if (address === NULL) throw new GuestError('out of memory')
    module.HEAPU8.set(bytes, address)
    return this.ffi.QTS_NewArrayBuffer(this.context, address, bytes.length) // which owns the memory from here on
  }

  function(name: string, answer: HostFunction): Value {
    return this.ffi.QTS_NewFunction(this.context, name, 0, false, this.host.register(answer))
  }

  setProperty(object: Borrowed, name: string, value: Borrowed): void {
    const key = this.text(name)
    this.ffi.QTS_SetProp(this.context, object, key, value)
    this.free(key)
  }

  property(object: Borrowed, name: string): Value {
    const key = this.text(name)
    const value = this.ffi.QTS_GetProp(this.context, object, key)
    this.free(key)
    return value
  }

  numberOf(value: Borrowed): number {
    return this.ffi.QTS_GetFloat64(this.context, value)
  }

  same(a: Borrowed, b: Borrowed): boolean {
    return this.ffi.QTS_IsEqual(this.context, a, b, STRICTLY_EQUAL) !== 0
  }

  isObject(value: Borrowed): boolean {
    const type = this.consumeText(this.ffi.QTS_Typeof(this.context, value))
    return type === 'object' && !this.same(value, this.ffi.QTS_GetNull())
  }

  /** The bytes in which the engine serialises a value, for as long as `use` runs; undefined where it refuses. */
  serialised<T>(value: Borrowed, use: (bytes: Uint8Array) => T): T | undefined {
    const encoded = this.outcome(this.ffi.QTS_bjson_encode(this.context, value))
    if (encoded.error !== undefined) {
      this.free(encoded.error)
      return undefined
    }
    try {
      return this.bytesOf(encoded.value, use)
    } finally {
      this.free(encoded.value)
    }
  }

  /** Hands over a copy of an ArrayBuffer's bytes that lives as long as `use` runs; undefined when there is no memory for it. */
  bytesOf<T>(buffer: Borrowed, use: (bytes: Uint8Array) => T): T | undefined {
    const { module } = this.host
    const length = this.ffi.QTS_GetArrayBufferLength(this.context, buffer)
    const address = this.ffi.QTS_GetArrayBuffer(this.context, buffer)
    if (address === NULL) return undefined
    try {
      return use(module.HEAPU8.subarray(address, address + length))
    } finally {
      module._free(address)
    }
  }

  memoryUsage(): string {
    return this.consumeText(this.ffi.QTS_RuntimeDumpMemoryUsage(this.runtime))
  }

  free(value: Value): void {
    this.ffi.QTS_FreeValuePointer(this.context, value)
  }

  dispose(): void {
    this.ffi.QTS_FreeContext(this.context)
    this.ffi.QTS_FreeRuntime(this.runtime)
    this.host.onInterrupt(this.runtime, undefined)
  }

  private outcome(result: Value): Outcome {
    const error = this.ffi.QTS_ResolveException(this.context, result)
    if (error === NULL) return { value: result }
    this.free(result)
    return { error }
  }

  private consumeText(address: OwnedHeapCharPointer): string {
    const { module } = this.host
    const text = module.UTF8ToString(address)
    module._free(address)
    return text
  }
}
