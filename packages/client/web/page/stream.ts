// One server-sent event connection that comes back by itself and says what it is doing. Knows nothing of what the frames mean.
import { auth } from './api.ts'
import { createSseParser, type SseMessage } from './sse.ts'

export type Connection =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'open' }
  /** Lost; the next attempt is made at `retryAt` (milliseconds since the epoch). */
  | { readonly kind: 'waiting'; readonly retryAt: number }
  /** Does not come back by itself: the server refused, e.g. the session is gone. `status` 0 comes with a message. */
  | { readonly kind: 'refused'; readonly status: number; readonly message?: string }

export interface StreamOptions {
  /** Asked before each attempt. */
  url(): string
  /** Asked before each attempt: the id to go on after. */
  lastEventId(): string | undefined
  /** Awaited before each attempt; a rejection counts as a failed attempt. */
  prepare?(): Promise<void>
  onMessage(message: SseMessage): unknown
  onConnection(connection: Connection): void
}

export interface EventStream {
  retryNow(): void
  close(): void
}

const firstDelay = 1000
const longestDelay = 15_000

/** Opens at once, in a page or in a worker. After `close()` nothing is reported any more. */
export function openStream(options: StreamOptions): EventStream {
  let closed = false
  let failures = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  let abort = new AbortController()

  const report = (connection: Connection): void => {
    if (!closed) options.onConnection(connection)
  }

  async function attempt(signal: AbortSignal): Promise<void> {
    await options.prepare?.()
    const after = options.lastEventId()
    const headers = { accept: 'text/event-stream', ...(after === undefined ? {} : { 'last-event-id': after }) }
    const response = await fetch(options.url(), { headers, signal, cache: 'no-store' })
    if (response.status === 401) auth.refuse()
    if (response.status === 401 || response.status === 404) throw new Refused(response.status)
    if (!response.ok || response.body === null) throw new Error(`status ${response.status}`)
    failures = 0
    report({ kind: 'open' })
    const feed = createSseParser((message) => {
      if (!signal.aborted) options.onMessage(message)
    })
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) feed(piece.value)
  }

  async function connect(): Promise<void> {
    clearTimeout(timer)
    abort.abort()
    abort = new AbortController()
    const { signal } = abort
    report({ kind: 'connecting' })
    try {
      await attempt(signal)
    } catch (error) {
      if (error instanceof Refused && !signal.aborted)
        return report({
          kind: 'refused',
          status: error.status,
          ...(error.status === 0 ? { message: error.message } : {}),
        })
      // Any other failure is a lost connection, whatever its words: it is retried below.
    }
    if (closed || signal.aborted) return
    const delay = Math.min(longestDelay, firstDelay * 2 ** failures++)
    timer = setTimeout(() => void connect(), delay)
    report({ kind: 'waiting', retryAt: Date.now() + delay })
  }

  const back = (): void => {
    if (timer !== undefined && !closed) void connect()
  }
  globalThis.addEventListener('online', back)
  void connect()

  return {
    retryNow: () => void connect(),
    close() {
      closed = true
      clearTimeout(timer)
      abort.abort()
      globalThis.removeEventListener('online', back)
    },
  }
}

/** Thrown inside an attempt when trying again cannot help. */
export class Refused extends Error {
  readonly status: number

  constructor(status: number, message = `refused with status ${status}`) {
    super(message)
    this.status = status
  }
}
