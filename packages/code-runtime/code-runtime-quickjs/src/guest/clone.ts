// Runs inside QuickJS: `structuredClone` for the types that exist there. Self-contained: the function is sent as text.

export function makeStructuredClone(): Record<string, unknown> {
  const { defineProperty } = Object
  const plainCopies = new Set<unknown>([Boolean, Number, String, Date, RegExp, BigInt])

  class DataCloneError extends Error {
    constructor(what: string) {
      super(`${what} cannot be cloned`)
      defineProperty(this, 'name', { value: 'DataCloneError', writable: true, configurable: true })
    }
  }

  function copyError(error: Error, copies: Map<unknown, unknown>): Error {
    const kinds: Record<string, ErrorConstructor> = {
      EvalError,
      RangeError,
      ReferenceError,
      SyntaxError,
      TypeError,
      URIError,
    }
    const Kind = Object.hasOwn(kinds, error.name) ? (kinds[error.name] as ErrorConstructor) : Error
    const copy = new Kind(error.message)
    copies.set(error, copy)
    if ('cause' in error)
      defineProperty(copy, 'cause', { value: clone(error.cause, copies), writable: true, configurable: true })
    return copy
  }

  function copySpecial(value: object, copies: Map<unknown, unknown>): object | undefined {
    if (value instanceof Date) return new Date(value.getTime())
    if (value instanceof RegExp) return new RegExp(value.source, value.flags)
    if (value instanceof Error) return copyError(value, copies)
    if (value instanceof ArrayBuffer) return value.slice(0)
    if (ArrayBuffer.isView(value)) {
      const buffer = clone(value.buffer, copies) as ArrayBuffer
      const Kind = value.constructor as new (buffer: ArrayBuffer, offset: number, length: number) => object
      return new Kind(
        buffer,
        value.byteOffset,
        value instanceof DataView ? value.byteLength : (value as Uint8Array).length,
      )
    }
    for (const Kind of plainCopies) {
      if (value instanceof (Kind as new () => object)) return Object(value.valueOf()) as object
    }
    if (value instanceof Promise || value instanceof WeakMap || value instanceof WeakSet || value instanceof WeakRef) {
      throw new DataCloneError(`#<${value.constructor.name}>`)
    }
    return undefined
  }

  function clone(value: unknown, copies: Map<unknown, unknown>): unknown {
    if (typeof value === 'function' || typeof value === 'symbol') throw new DataCloneError(String(value))
    if (typeof value !== 'object' || value === null) return value
    if (copies.has(value)) return copies.get(value)
    if (value instanceof Map) {
      const copy = new Map()
      copies.set(value, copy)
      for (const [key, item] of value) copy.set(clone(key, copies), clone(item, copies))
      return copy
    }
    if (value instanceof Set) {
      const copy = new Set()
      copies.set(value, copy)
      for (const item of value) copy.add(clone(item, copies))
      return copy
    }
    const special = copySpecial(value, copies)
    if (special !== undefined) {
      copies.set(value, special)
      return special
    }
    const copy: Record<string, unknown> | unknown[] = Array.isArray(value) ? Array.from({ length: 0 }) : {}
    if (Array.isArray(value)) (copy as unknown[]).length = value.length
    copies.set(value, copy)
    for (const key of Object.keys(value)) {
      const item = clone((value as Record<string, unknown>)[key], copies)
      defineProperty(copy, key, { value: item, writable: true, enumerable: true, configurable: true })
    }
    return copy
  }

  return {
    structuredClone(value: unknown) {
      return clone(value, new Map())
    },
  }
}
