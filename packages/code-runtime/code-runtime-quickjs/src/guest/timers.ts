// Runs inside QuickJS: timers and microtasks. The worker keeps the time, the guest the callbacks.
// Self-contained: the function is sent as text.
import type { GuestHost } from './bridge.ts'

export function makeTimers(
  host: Pick<GuestHost, 'startTimer' | 'stopTimer'>,
  fail: (thrown: unknown) => void,
): { fire(id: number): void } {
  const { apply } = Reflect
  const { create, defineProperty } = Object
  const { then } = Promise.prototype
  const resolved = Promise.resolve()
  const toNumber = Number
  const NativeTypeError = TypeError
  const NativeRangeError = RangeError
  const callbacks: Record<number, { run: () => void; repeats: boolean }> = create(null)
  let lastId = 0

  function start(name: string, callback: unknown, delay: unknown, args: unknown[], repeats: boolean): number {
    if (typeof callback !== 'function') throw new NativeTypeError(`${name} wants a function, got ${typeof callback}`)
    const wanted = toNumber(delay)
    lastId += 1
    // Note: NaN and negative delays count as the shortest, as everywhere else.
    const refused = host.startTimer(lastId, wanted > 0 ? wanted : 0, repeats)
    if (refused !== undefined) throw new NativeRangeError(refused)
    callbacks[lastId] = { run: () => void apply(callback, undefined, args), repeats }
    return lastId
  }

  function stop(id: unknown): void {
    if (typeof id !== 'number' || callbacks[id] === undefined) return
    delete callbacks[id]
    host.stopTimer(id)
  }

  const publish = (name: string, value: unknown): unknown =>
    defineProperty(globalThis, name, { value, writable: true, configurable: true })
  publish('setTimeout', function setTimeout(callback: unknown, delay?: unknown, ...args: unknown[]) {
    return start('setTimeout', callback, delay, args, false)
  })
  publish('setInterval', function setInterval(callback: unknown, delay?: unknown, ...args: unknown[]) {
    return start('setInterval', callback, delay, args, true)
  })
  publish('clearTimeout', function clearTimeout(id?: unknown) {
    stop(id)
  })
  publish('clearInterval', function clearInterval(id?: unknown) {
    stop(id)
  })
  publish('queueMicrotask', function queueMicrotask(callback: unknown) {
    if (typeof callback !== 'function')
      throw new NativeTypeError(`queueMicrotask wants a function, got ${typeof callback}`)
    apply(then, apply(then, resolved, [() => void callback()]), [undefined, fail])
  })

  return {
    fire(id) {
      const timer = callbacks[id]
      if (timer === undefined) return
      if (!timer.repeats) delete callbacks[id]
      try {
        timer.run()
      } catch (thrown) {
        fail(thrown)
      }
    },
  }
}
