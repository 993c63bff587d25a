// Runs inside QuickJS: `URL` and `URLSearchParams` over the parser of the worker. Self-contained: the function is sent as text.
import type { GuestHost } from './bridge.ts'

export function makeUrl(host: Pick<GuestHost, 'url'>): Record<string, unknown> {
  const { defineProperty } = Object
  const { parse, stringify } = JSON
  type Parts = Record<string, string>
  type Pair = [string, string]

  const ask = (request: unknown): { parts?: Parts; pairs?: Pair[]; text?: string; error?: string } =>
    parse(host.url(stringify(request)))

  function pairsOf(init: unknown): Pair[] {
    if (init === undefined || init === null) return []
    if (typeof init !== 'object') return ask({ kind: 'pairs', text: String(init) }).pairs ?? []
    if (Symbol.iterator in init) {
      return [...(init as Iterable<Iterable<unknown>>)].map((pair) => {
        const [name, value, ...more] = [...pair]
        if (value === undefined || more.length > 0) throw new TypeError('each query pair must be a [name, value] tuple')
        return [String(name), String(value)]
      })
    }
    return Object.entries(init).map(([name, value]) => [name, String(value)])
  }

  class URLSearchParams {
    #pairs: Pair[]
    #changed: ((text: string) => void) | undefined

    constructor(init?: unknown) {
      this.#pairs = pairsOf(init)
    }

    static linked(text: string, changed: (text: string) => void): URLSearchParams {
      const made = new URLSearchParams(text)
      made.#changed = changed
      return made
    }

    static refill(target: URLSearchParams, text: string): void {
      target.#pairs = pairsOf(text)
    }

    #touch(): void {
      this.#changed?.(this.toString())
    }

    get size(): number {
      return this.#pairs.length
    }

    append(name: unknown, value: unknown): void {
      this.#pairs.push([String(name), String(value)])
      this.#touch()
    }

    delete(name: unknown, value?: unknown): void {
      this.#pairs = this.#pairs.filter(
        ([key, own]) => key !== String(name) || (value !== undefined && own !== String(value)),
      )
      this.#touch()
    }

    get(name: unknown): string | null {
      return this.#pairs.find(([key]) => key === String(name))?.[1] ?? null
    }

    getAll(name: unknown): string[] {
      return this.#pairs.filter(([key]) => key === String(name)).map(([, value]) => value)
    }

    has(name: unknown, value?: unknown): boolean {
      return this.#pairs.some(([key, own]) => key === String(name) && (value === undefined || own === String(value)))
    }

    set(name: unknown, value: unknown): void {
      const first = this.#pairs.findIndex(([key]) => key === String(name))
      if (first < 0) this.#pairs.push([String(name), String(value)])
      else {
        this.#pairs = this.#pairs.filter(([key], index) => key !== String(name) || index === first)
        this.#pairs[first] = [String(name), String(value)]
      }
      this.#touch()
    }

    sort(): void {
      this.#pairs.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
      this.#touch()
    }

    forEach(callback: (value: string, name: string, params: URLSearchParams) => void, thisValue?: unknown): void {
      for (const [name, value] of this.#pairs) callback.call(thisValue, value, name, this)
    }

    *entries(): IterableIterator<Pair> {
      for (const [name, value] of this.#pairs) yield [name, value]
    }

    *keys(): IterableIterator<string> {
      for (const [name] of this.#pairs) yield name
    }

    *values(): IterableIterator<string> {
      for (const [, value] of this.#pairs) yield value
    }

    [Symbol.iterator](): IterableIterator<Pair> {
      return this.entries()
    }

    toString(): string {
      return ask({ kind: 'text', pairs: this.#pairs }).text ?? ''
    }
  }

  class URL {
    #parts: Parts
    #search: URLSearchParams | undefined

    constructor(url: unknown, base?: unknown) {
      const answer = ask({ kind: 'parse', url: String(url), base: base === undefined ? undefined : String(base) })
      if (answer.parts === undefined) throw new TypeError(`Invalid URL: ${String(url)}`)
      this.#parts = answer.parts
    }

    static canParse(url: unknown, base?: unknown): boolean {
      return URL.parse(url, base) !== null
    }

    static parse(url: unknown, base?: unknown): URL | null {
      try {
        return new URL(url, base)
      } catch {
        return null // not a URL: the answer of this method
      }
    }

    static read(url: URL, field: string): string {
      return url.#parts[field] ?? ''
    }

    static write(url: URL, field: string, value: string): void {
      const answer = ask({ kind: 'set', url: url.#parts.href, field, value })
      if (answer.parts === undefined) throw new TypeError(`Invalid URL: ${value}`)
      url.#parts = answer.parts
      if (url.#search !== undefined) URLSearchParams.refill(url.#search, url.#parts.search ?? '')
    }

    get searchParams(): URLSearchParams {
      this.#search ??= URLSearchParams.linked(this.#parts.search ?? '', (text) => {
        this.#parts = ask({ kind: 'set', url: this.#parts.href, field: 'search', value: text }).parts ?? this.#parts
      })
      return this.#search
    }

    toString(): string {
      return this.#parts.href ?? ''
    }

    toJSON(): string {
      return this.toString()
    }
  }

  const fields = ['href', 'protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname', 'search', 'hash']
  const { read, write } = URL
  for (const field of [...fields, 'origin']) {
    defineProperty(URL.prototype, field, {
      configurable: true,
      enumerable: true,
      get(this: URL) {
        return read(this, field)
      },
      ...(field === 'origin'
        ? {}
        : {
            set(this: URL, value: unknown) {
              write(this, field, String(value))
            },
          }),
    })
  }
  for (const key of ['read', 'write']) Reflect.deleteProperty(URL, key)
  return { URL, URLSearchParams }
}
