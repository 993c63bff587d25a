// Runs inside QuickJS: the text of values in `console` lines, bounded in depth, items and length.
// Self-contained: the function is sent as text. It runs no getter; what a hostile proxy throws ends in a placeholder.

export interface Inspector {
  inspect(value: unknown): string
  /** What one console call prints. */
  format(args: unknown[]): string
}

export function makeInspector(): Inspector {
  const MAX_DEPTH = 4
  const MAX_ITEMS = 100
  const MAX_STRING = 10_000
  const LINE_WIDTH = 76
  const { getOwnPropertyDescriptor, prototype: objectPrototype } = Object
  const { ownKeys, getPrototypeOf } = Reflect
  const { isArray } = Array
  const quote = JSON.stringify
  const typedArray = getPrototypeOf(Int8Array) as typeof Int8Array

  const cut = (text: string): string =>
    text.length > MAX_STRING ? `${text.slice(0, MAX_STRING)}… ${text.length - MAX_STRING} more characters` : text

  function className(value: object): string | undefined {
    const prototype = getPrototypeOf(value)
    if (prototype === null) return '[null prototype]'
    if (prototype === objectPrototype) return undefined
    const made = getOwnPropertyDescriptor(prototype, 'constructor')?.value
    return typeof made === 'function' ? String(getOwnPropertyDescriptor(made, 'name')?.value ?? '') : undefined
  }

  function primitive(value: unknown): string | undefined {
    if (typeof value === 'string') return quote(cut(value))
    if (typeof value === 'bigint') return `${value}n`
    if (typeof value === 'function') return `[Function ${quote(getOwnPropertyDescriptor(value, 'name')?.value ?? '')}]`
    if (typeof value === 'number') return value === 0 && 1 / value < 0 ? '-0' : String(value)
    return typeof value === 'object' && value !== null ? undefined : String(value)
  }

  function errorText(error: Error): string {
    const name = typeof error.name === 'string' ? error.name : 'Error'
    const head = `${name}: ${cut(String(error.message))}`
    return error.cause === undefined ? head : `${head} [cause: ${show(error.cause, 2, [])}]`
  }

  function joined(open: string, parts: string[], close: string, depth: number): string {
    if (parts.length === 0) return open + close
    const line = parts.join(', ')
    const pad = open.startsWith('{') || open.endsWith('{') ? ' ' : ''
    if (line.length + depth * 2 <= LINE_WIDTH && !line.includes('\n')) return `${open}${pad}${line}${pad}${close}`
    const indent = '  '.repeat(depth + 1)
    return `${open}\n${indent}${parts.join(`,\n${indent}`)}\n${'  '.repeat(depth)}${close}`
  }

  function limited<T>(items: Iterable<T>, total: number, each: (item: T) => string): string[] {
    const parts: string[] = []
    for (const item of items) {
      if (parts.length >= MAX_ITEMS) {
        parts.push(`… ${total - MAX_ITEMS} more`)
        break
      }
      parts.push(each(item))
    }
    return parts
  }

  function property(value: object, key: string | symbol, depth: number, above: object[]): string {
    const own = getOwnPropertyDescriptor(value, key)
    const label = typeof key === 'symbol' ? `[${String(key)}]` : /^[A-Za-z_$][\w$]*$/.test(key) ? key : quote(key)
    if (own?.get !== undefined || own?.set !== undefined) return `${label}: [Accessor]`
    return `${label}: ${show(own?.value, depth + 1, above)}`
  }

  function listText(value: unknown[], depth: number, above: object[]): string {
    const indexes: number[] = []
    for (let index = 0; index < value.length && index <= MAX_ITEMS; index += 1) indexes.push(index)
    const parts = limited(indexes, value.length, (index) => {
      const own = getOwnPropertyDescriptor(value, index)
      if (own === undefined) return '<empty>'
      return own.get === undefined ? show(own.value, depth + 1, above) : '[Accessor]'
    })
    return joined('[', parts, ']', depth)
  }

  function special(value: object, depth: number, above: object[]): string | undefined {
    if (value instanceof Error) return errorText(value)
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString()
    if (value instanceof RegExp) return String(value)
    if (value instanceof Promise) return 'Promise {}'
    if (value instanceof ArrayBuffer) return `ArrayBuffer(${value.byteLength})`
    if (value instanceof typedArray) {
      const bytes = value as unknown as Uint8Array
      return joined(`${className(value)}(${bytes.length}) [`, limited(bytes, bytes.length, String), ']', depth)
    }
    if (value instanceof Map) {
      const pair = ([key, item]: [unknown, unknown]): string =>
        `${show(key, depth + 1, above)} => ${show(item, depth + 1, above)}`
      return joined(`Map(${value.size}) {`, limited(value, value.size, pair), '}', depth)
    }
    if (value instanceof Set) {
      const parts = limited(value, value.size, (item) => show(item, depth + 1, above))
      return joined(`Set(${value.size}) {`, parts, '}', depth)
    }
    return undefined
  }

  function show(value: unknown, depth: number, above: object[]): string {
    const simple = primitive(value)
    if (simple !== undefined) return simple
    const object = value as object
    try {
      if (above.includes(object)) return '[Circular]'
      if (depth > MAX_DEPTH) return isArray(object) ? '[Array]' : '[Object]'
      const inside = [...above, object]
      if (isArray(object)) return listText(object, depth, inside)
      const own = special(object, depth, inside)
      if (own !== undefined) return own
      const keys = ownKeys(object).filter((key) => getOwnPropertyDescriptor(object, key)?.enumerable === true)
      const name = className(object)
      const parts = limited(keys, keys.length, (key) => property(object, key, depth, inside))
      return joined(name === undefined ? '{' : `${name} {`, parts, '}', depth)
    } catch (thrown) {
      if (thrown instanceof RangeError || !(thrown instanceof Error)) return '[Unreadable]'
      if (thrown.name === 'InternalError') throw thrown // out of memory or stack: the program must hear of it
      return '[Unreadable]'
    }
  }

  const inspect = (value: unknown): string => show(value, 0, [])

  function directive(kind: string, value: unknown): string {
    if (kind === 's')
      return typeof value === 'string' ? value : typeof value === 'object' ? inspect(value) : String(value)
    if (kind === 'd') return typeof value === 'object' ? 'NaN' : String(Number(value))
    if (kind === 'i') return typeof value === 'object' ? 'NaN' : String(Number.parseInt(String(value), 10))
    if (kind === 'f') return typeof value === 'symbol' ? 'NaN' : String(Number.parseFloat(String(value)))
    if (kind === 'c') return ''
    if (kind === 'j') return quote(value) ?? 'undefined'
    return inspect(value)
  }

  function format(args: unknown[]): string {
    let rest = args
    const parts: string[] = []
    const [first] = args
    if (typeof first === 'string') {
      let used = 1
      const text = first.replace(/%([sdifjoOc%])/g, (all: string, kind: string) => {
        if (kind === '%') return args.length > 1 ? '%' : all
        if (used >= args.length) return all
        used += 1
        return directive(kind, args[used - 1])
      })
      parts.push(text)
      rest = args.slice(used)
    }
    for (const value of rest) parts.push(typeof value === 'string' ? value : inspect(value))
    return parts.join(' ')
  }

  return { inspect, format }
}
