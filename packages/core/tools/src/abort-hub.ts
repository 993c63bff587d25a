// One listener a signal, however many calls wait on it: parallel calls of one turn share the turn's signal, and Node warns about
// a leak at the eleventh listener.

class Hub {
  readonly callbacks = new Set<() => void>()
  private readonly signal: AbortSignal

  constructor(signal: AbortSignal) {
    this.signal = signal
    signal.addEventListener('abort', this, { once: true })
  }

  /** What the platform calls on an object that is a listener. */
  handleEvent(): void {
    hubs.delete(this.signal)
    for (const callback of this.callbacks) callback()
  }

  leave(callback: () => void): void {
    if (!this.callbacks.delete(callback) || this.callbacks.size > 0) return
    this.signal.removeEventListener('abort', this)
    if (hubs.get(this.signal) === this) hubs.delete(this.signal)
  }
}

const hubs = new WeakMap<AbortSignal, Hub>()

/**
 * Calls `callback` when the signal fires; never for one that has fired already. Each callback may wait once a signal. Returns what
 * takes it back; the last to leave removes the listener.
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  let hub = hubs.get(signal)
  if (hub === undefined) hubs.set(signal, (hub = new Hub(signal)))
  hub.callbacks.add(callback)
  const joined = hub
  return () => joined.leave(callback)
}
