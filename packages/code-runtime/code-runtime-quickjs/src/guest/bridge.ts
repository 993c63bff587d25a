// Runs inside QuickJS: bindings, their promises and error classes, and the start of the program.
// Self-contained: the function is sent as text. It uses nothing that a program could have replaced before the call.
import type { BindingShape } from '../protocol.ts'
import type { Lossless } from './lossless.ts'

/** What the worker offers to the guest. */
export interface GuestHost {
  /**
   * Submits a call. Returns why it cannot, `''` when the argument cannot be serialised, `undefined` when it is under way.
   * One array, since every value that crosses costs.
   */
  call(call: [id: number, binding: number, name: number, argument: unknown]): string | undefined
  /** Ends the run with a value. Returns false when it cannot be serialised. */
  done(hasValue: boolean, value: unknown): boolean
  fail(kind: 'exception' | 'invalid-output', message: string, stack: string): void
  log(line: string): void
  /** Returns why the timer cannot start. */
  startTimer(id: number, delayMs: number, repeats: boolean): string | undefined
  stopTimer(id: number): void
  /** Evaluates a part of the prelude that most programs never need: see `prelude.ts`. */
  load(part: string): (host: GuestHost) => unknown
  /** Host-side halves of `URL`, `URLSearchParams`, `TextEncoder`, `TextDecoder`; arguments and results are JSON. */
  url(request: string): string
  encode(text: string): ArrayBuffer
  decode(bytes: ArrayBuffer, start: number, length: number, options: string): string
}

export interface Bridge {
  install(shapes: string): void
  /** Ends the run with what was thrown outside the program's own promise. */
  fail(thrown: unknown): void
  start(program: () => Promise<unknown>): void
  /** JSON: a list of `[id, resolved, value or message]`. */
  settle(settlements: string): void
}

export function bridge(host: GuestHost, lossless: Lossless, inspect: (value: unknown) => string): Bridge {
  const { defineProperty, freeze, create, setPrototypeOf } = Object
  const { apply } = Reflect
  const { then } = Promise.prototype
  const slice = String.prototype.slice
  const parse = JSON.parse
  const NativePromise = Promise
  const NativeError = Error
  const NativeTypeError = TypeError
  const MAX_MESSAGE = 20_000
  type Failure = (message: string) => unknown
  interface Waiting {
    resolve: (value: unknown) => void
    reject: (reason: unknown) => void
    failure: Failure
  }
  const waiting: Record<number, Waiting> = create(null)
  /** Which call an error that a program may let through comes from. */
  const origins = new WeakMap<object, string>()
  const { get: getOrigin, set: setOrigin } = WeakMap.prototype
  let lastId = 0

  const hidden = (value: string): PropertyDescriptor => {
    const descriptor = create(null) as PropertyDescriptor
    descriptor.value = value
    descriptor.writable = true
    descriptor.configurable = true
    return descriptor
  }

  /**
   * Note: instances are plain objects below the class. To what has the engine's mark of an error it adds a `stack` as soon as it is
   * thrown, which is more than a program may know of a call.
   */
  function errorClass(name: string, member: string): new (memberName: string, message: string) => object {
    const { [name]: made } = {
      // oxlint-disable-next-line typescript/no-extraneous-class -- programs see it as the class of their errors
      [name]: class {
        constructor(memberName: string, message: string) {
          const own = { name: hidden(name), [member]: hidden(memberName), message: hidden(message) }
          return create(new.target.prototype, own) as object
        }
      },
    } as Record<string, new (memberName: string, message: string) => object>
    if (made === undefined) throw new NativeError('unreachable: the class was just made')
    setPrototypeOf(made, NativeError)
    setPrototypeOf(made.prototype as object, NativeError.prototype)
    return made
  }

  function submit(binding: number, name: number, argument: unknown, what: string, failure: Failure): Promise<unknown> {
    return new NativePromise((resolve, reject) => {
      lastId += 1
      const id = lastId
      if (argument === undefined) {
        reject(failure(`${what}: the argument must be lossless JSON; call it with a value, for example {}`))
        return
      }
      let refused: string | undefined = ''
      try {
        if (lossless.holds(argument)) refused = host.call([id, binding, name, argument])
      } catch {
        refused = '' // reading the argument threw: explained below
      }
      if (refused === undefined) {
        waiting[id] = { resolve, reject, failure }
        return
      }
      const why =
        refused === '' ? `the argument must be lossless JSON: ${lossless.explain(argument, 'argument')}` : refused
      reject(failure(`${what}: ${why}`))
    })
  }

  function installOne(shape: BindingShape, binding: number): void {
    const object = create(null) as Record<string, unknown>
    const made =
      shape.errorClass === undefined
        ? undefined
        : errorClass(shape.errorClass.name, shape.errorClass.memberNameProperty)
    const publish = (key: string, value: unknown): unknown =>
      defineProperty(globalThis, key, { value, writable: false, configurable: false, enumerable: true })
    for (let index = 0; index < shape.names.length; index += 1) {
      const name = shape.names[index] as string
      const what = `${shape.global}.${name}`
      const failure: Failure = (message) => {
        const error = made === undefined ? new NativeError(message) : new made(name, message)
        apply(setOrigin, origins, [error, what])
        return error
      }
      // Note: a method has no prototype object and cannot be called with `new`.
      const { method } = {
        method(argument: unknown) {
          return submit(binding, index, argument, what, failure)
        },
      }
      defineProperty(method, 'name', { value: name })
      defineProperty(object, name, { value: freeze(method), enumerable: true })
    }
    publish(shape.global, freeze(object))
    if (shape.errorClass !== undefined) publish(shape.errorClass.name, made)
  }

  const text = (value: unknown): string =>
    typeof value === 'string' ? (apply(slice, value, [0, MAX_MESSAGE]) as string) : ''

  function fail(thrown: unknown): void {
    let message = ''
    let stack = ''
    try {
      if (thrown instanceof NativeError) {
        const name = text(thrown.name)
        message = name === '' ? text(thrown.message) : `${name}: ${text(thrown.message)}`
        stack = text(thrown.stack)
        const origin = apply(getOrigin, origins, [thrown]) as string | undefined
        if (origin !== undefined && stack === '') message += `\n    at ${origin}`
      } else {
        message = `thrown: ${text(inspect(thrown))}`
      }
    } catch {
      message = message === '' ? 'thrown: a value that cannot be read' : message
    }
    host.fail('exception', message, stack)
  }

  function finish(value: unknown): void {
    if (value === undefined) {
      host.done(false, undefined)
      return
    }
    let kept = false
    try {
      kept = lossless.holds(value) && host.done(true, value)
    } catch (thrown) {
      if (!(thrown instanceof NativeTypeError)) {
        fail(thrown)
        return
      }
    }
    if (!kept) host.fail('invalid-output', `the result must be lossless JSON: ${lossless.explain(value, 'result')}`, '')
  }

  return {
    install(shapes) {
      const list = parse(shapes) as BindingShape[]
      for (let index = 0; index < list.length; index += 1) installOne(list[index] as BindingShape, index)
    },
    fail,
    start(program) {
      void apply(then, program(), [finish, fail])
    },
    settle(settlements) {
      const list = parse(settlements) as [number, boolean, unknown][]
      for (let index = 0; index < list.length; index += 1) {
        const settlement = list[index] as [number, boolean, unknown]
        const id = settlement[0]
        const call = waiting[id]
        if (call === undefined) continue
        delete waiting[id]
        if (settlement[1]) call.resolve(settlement[2])
        else call.reject(call.failure(settlement[2] as string))
      }
    },
  }
}
