// Runs inside QuickJS: `console`, and globals that are made when a program first asks for them, so that a context is ready soon.
// Self-contained: the function is sent as text.
import type { GuestHost } from './bridge.ts'
import type { Inspector } from './inspect.ts'

export function makeLazy(host: GuestHost): { inspect(value: unknown): string } {
  const { defineProperty } = Object
  const console: Record<string, unknown> = {}
  let inspector: Inspector | undefined
  const loaded = (): Inspector => (inspector ??= host.load('inspector')(host) as Inspector)

  for (const name of ['log', 'info', 'warn', 'error', 'debug']) {
    const { method } = {
      method(...args: unknown[]) {
        const [first] = args
        const plain = args.length === 1 && typeof first === 'string'
        host.log(plain ? first : loaded().format(args))
      },
    }
    defineProperty(method, 'name', { value: name })
    console[name] = method
  }
  defineProperty(globalThis, 'console', { value: console, writable: true, configurable: true })

  function later(part: string, names: string[]): void {
    let made: Record<string, unknown> | undefined
    const publish = (name: string, value: unknown): unknown =>
      defineProperty(globalThis, name, { value, writable: true, configurable: true })
    for (const name of names) {
      defineProperty(globalThis, name, {
        configurable: true,
        get() {
          made ??= host.load(part)(host) as Record<string, unknown>
          publish(name, made[name])
          return made[name]
        },
        set(value: unknown) {
          publish(name, value)
        },
      })
    }
  }

  later('url', ['URL', 'URLSearchParams'])
  later('text', ['TextEncoder', 'TextDecoder'])
  later('clone', ['structuredClone'])
  return { inspect: (value) => loaded().inspect(value) }
}
