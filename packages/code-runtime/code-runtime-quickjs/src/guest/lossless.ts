// Runs inside QuickJS: says whether a value is plain data that JSON keeps whole, and if not, where and why.
// Self-contained: the function is sent as text. Numbers, accessors and proxies are left to the serialiser, which meets them anyway.

export interface Lossless {
  /** The cheap walk: containers only. */
  holds(value: unknown): boolean
  /** Why `value` cannot leave; only asked once it is known that it cannot. */
  explain(value: unknown, name: string): string
}

export function lossless(): Lossless {
  const { values, getOwnPropertyDescriptor } = Object
  const { ownKeys, getPrototypeOf } = Reflect
  const { isArray } = Array
  const toText = String
  const quote = JSON.stringify
  const plain = Object.prototype
  const list = Array.prototype
  const MAX_DEPTH = 512
  const MAX_NODES = 5_000_000
  let nodes = 0

  function walk(value: object, depth: number): boolean {
    if (depth > MAX_DEPTH) return false
    let children: unknown[]
    if (isArray(value)) {
      children = value
      if (getPrototypeOf(value) !== list || ownKeys(value).length !== value.length + 1) return false
    } else {
      const prototype = getPrototypeOf(value)
      if (prototype !== plain && prototype !== null) return false
      children = values(value)
      if (ownKeys(value).length !== children.length) return false
    }
    const count = children.length
    nodes += count
    if (nodes > MAX_NODES) return false
    for (let index = 0; index < count; index += 1) {
      const child = children[index]
      if (typeof child === 'object' && child !== null && !walk(child, depth + 1)) return false
    }
    return true
  }

  function describe(value: object): string {
    try {
      const prototype = getPrototypeOf(value)
      const made = prototype === null ? undefined : prototype.constructor
      return typeof made === 'function' && typeof made.name === 'string'
        ? `an instance of ${made.name}`
        : 'an exotic object'
    } catch {
      return 'an exotic object' // a trap of a proxy threw
    }
  }

  function primitive(value: unknown): string | undefined {
    switch (typeof value) {
      case 'string':
      case 'boolean':
        return undefined
      case 'number':
        if (value - value !== 0) return toText(value)
        return value === 0 && 1 / value < 0 ? '-0' : undefined
      case 'undefined':
        return 'undefined'
      case 'object':
        return undefined
      default:
        return `a ${typeof value}`
    }
  }

  function place(path: string, key: string | symbol): string {
    if (typeof key === 'symbol') return `${path}[symbol]`
    if (/^[A-Za-z_$][\w$]*$/.test(key)) return `${path}.${key}`
    return `${path}[${quote(key)}]`
  }

  function find(value: unknown, path: string, above: object[]): string | undefined {
    const simple = primitive(value)
    if (simple !== undefined) return `${simple} at ${path}`
    if (typeof value !== 'object' || value === null) return undefined
    for (let index = 0; index < above.length; index += 1) if (above[index] === value) return `a cycle at ${path}`
    if (above.length > MAX_DEPTH) return `nesting deeper than ${MAX_DEPTH} levels`
    nodes += 1
    if (nodes > MAX_NODES) return `more than ${MAX_NODES} values`
    const prototype = getPrototypeOf(value)
    const wanted = isArray(value) ? prototype === list : prototype === plain || prototype === null
    if (!wanted) return `${describe(value)} at ${path}`
    above[above.length] = value
    const found = findInside(value, path, above)
    above.length -= 1
    return found
  }

  function findInside(value: object, path: string, above: object[]): string | undefined {
    if (isArray(value) && value.length > MAX_NODES) return `more than ${MAX_NODES} values`
    if (isArray(value)) {
      for (let index = 0; index < value.length; index += 1) {
        const own = getOwnPropertyDescriptor(value, index)
        if (own === undefined) return `a hole at ${path}[${index}]`
      }
    }
    const keys = ownKeys(value)
    for (let index = 0; index < keys.length; index += 1) {
      const key = keys[index] as string
      if (isArray(value) && key === 'length') continue
      const own = getOwnPropertyDescriptor(value, key)
      const at = isArray(value) && index < value.length ? `${path}[${key}]` : place(path, key)
      if (typeof key === 'symbol') return `a symbol key at ${at}`
      if (own === undefined || own.enumerable !== true) return `a hidden property at ${at}`
      if (isArray(value) && index >= value.length) return `an extra property of an array at ${at}`
      if (own.get !== undefined || own.set !== undefined) return `an accessor at ${at}`
      const found = find(own.value, at, above)
      if (found !== undefined) return found
    }
    return undefined
  }

  return {
    holds(value) {
      nodes = 0
      if (typeof value !== 'object' || value === null) return primitive(value) === undefined
      return walk(value, 1)
    },
    explain(value, name) {
      nodes = 0
      try {
        return find(value, name, []) ?? `an exotic object in ${name}`
      } catch {
        return `an object in ${name} that cannot be read`
      }
    },
  }
}
