// The one stream of a session that all tabs share. Tabs that are level with it get what it brings, in order; a tab that joined
// later or was stalled first fetches the events it lacks, up to where the stream is, and is then level: nothing is lost or
// doubled, and nothing is kept here for anybody.
import type { CaughtUpFrame, EventFrame, LiveFrame } from '@deepseek-ai/dsh-server/protocol'
import { ApiError, call, messageOf } from '../api.ts'
import { createSseParser, type SseMessage } from '../sse.ts'
import { openStream, Refused, type Connection, type EventStream } from '../stream.ts'
import { LiveState } from './live-state.ts'
import type { Subscriber } from './subscriber.ts'

export interface SessionHost {
  /** True when this stream should carry the host's frames. Asked before each attempt. */
  wantsHost(): boolean
  onHostMessage(data: string): void
  onConnection(connection: Connection): void
  /** Runs work that needs a connection of its own; few at a time, since a browser has six. */
  inTurn<T>(work: () => Promise<T>): Promise<T>
}

const retryMs = 1000

export class SharedSession {
  connection: Connection = { kind: 'connecting' }
  readonly subscribers = new Map<Subscriber, (connection: Connection) => void>()
  private readonly url: string
  private readonly host: SessionHost
  private readonly live = new LiveState()
  private readonly stream: EventStream
  /** `seq` of the newest event that the stream has brought. */
  private head: number
  private caughtUp = false
  /** What stands beside the conversation, as told last. */
  private aside: SseMessage | undefined

  constructor(id: string, after: number, host: SessionHost) {
    this.host = host
    this.head = after
    this.url = `/api/sessions/${encodeURIComponent(id)}/events`
    this.stream = openStream({
      url: () => (host.wantsHost() ? `${this.url}?host=1` : this.url),
      lastEventId: () => (this.head < 0 ? undefined : String(this.head)),
      prepare: () => openForWork(id),
      onMessage: (message) => this.onMessage(message),
      onConnection: (connection) => this.onConnection(connection),
    })
  }

  join(subscriber: Subscriber, onConnection: (connection: Connection) => void): void {
    this.subscribers.set(subscriber, onConnection)
    onConnection(this.connection)
    void this.advance(subscriber)
  }

  leave(subscriber: Subscriber): void {
    subscriber.gone = true
    subscriber.abort?.abort()
    this.subscribers.delete(subscriber)
  }

  /** The tab has taken messages: one that was left behind may be able to go on. */
  taken(subscriber: Subscriber, size: number): void {
    subscriber.taken(size)
    if (!subscriber.level && subscriber.ready) void this.advance(subscriber)
  }

  retryNow(): void {
    this.stream.retryNow()
  }

  close(): void {
    this.stream.close()
  }

  private onConnection(connection: Connection): void {
    this.connection = connection
    if (connection.kind !== 'open') this.caughtUp = false
    this.host.onConnection(connection)
    for (const tell of this.subscribers.values()) tell(connection)
  }

  private onMessage(message: SseMessage): void {
    const { event, data, id } = message
    if (event === 'host') return this.host.onHostMessage(data)
    if (event === 'event') {
      this.head = Number(id)
      this.live.settle(JSON.parse(data) as EventFrame)
    }
    if (event === 'live') this.live.push(JSON.parse(data) as LiveFrame)
    if (event === 'aside') this.aside = message
    if (event === 'reset') return this.startOver()
    if (event === 'caught-up') {
      this.caughtUp = true
      this.live.restart((JSON.parse(data) as CaughtUpFrame).snapshot)
    }
    for (const subscriber of this.subscribers.keys()) {
      if (subscriber.level || event === 'problem') this.pass(subscriber, message)
      else if (event === 'caught-up') void this.advance(subscriber)
    }
  }

  private pass(subscriber: Subscriber, message: SseMessage): void {
    if (message.event === 'event') {
      if (this.head <= subscriber.cursor) return
      if (!subscriber.full) subscriber.cursor = this.head
    }
    if (subscriber.full) subscriber.level = false
    else subscriber.send(message)
  }

  /** The log is shorter than what was known: everybody drops what they have. */
  private startOver(): void {
    this.head = -1
    this.live.clear()
    for (const subscriber of this.subscribers.keys()) this.reset(subscriber)
  }

  private reset(subscriber: Subscriber): void {
    subscriber.abort?.abort()
    subscriber.cursor = -1
    subscriber.send({ event: 'reset', data: JSON.stringify({ from: 0, lastSeq: this.head }) })
  }

  private async advance(subscriber: Subscriber): Promise<void> {
    if (subscriber.advancing) return
    subscriber.advancing = true
    try {
      while (!subscriber.gone && !subscriber.level && !subscriber.full) {
        // Numbers that the log does not have (any more) are given again to other events.
        if (subscriber.cursor > this.head && this.caughtUp) this.reset(subscriber)
        if (subscriber.cursor >= this.head) this.joinLevel(subscriber)
        else if (!(await this.host.inTurn(() => this.fetchPast(subscriber)))) return this.tryLater(subscriber)
      }
    } finally {
      subscriber.advancing = false
    }
  }

  private joinLevel(subscriber: Subscriber): void {
    subscriber.level = true
    if (!this.caughtUp) return // the stream will say so
    const frame: CaughtUpFrame = { seq: this.head, snapshot: this.live.snapshot() }
    subscriber.send({ event: 'caught-up', data: JSON.stringify(frame) })
    for (const live of this.live.rest()) subscriber.send({ event: 'live', data: JSON.stringify(live) })
    if (this.aside !== undefined) subscriber.send(this.aside)
  }

  /** Sends the events after the cursor, until the tab is full. False when none could be had. */
  private async fetchPast(subscriber: Subscriber): Promise<boolean> {
    if (subscriber.gone || subscriber.level) return true
    const abort = (subscriber.abort = new AbortController())
    const before = subscriber.cursor
    try {
      const url = `${this.url}?from=${before + 1}&to=${this.head}`
      const response = await fetch(url, { signal: abort.signal, cache: 'no-store' })
      if (!response.ok || response.body === null) return false
      const feed = createSseParser((message) => {
        if (message.event !== 'event' || abort.signal.aborted) return
        subscriber.cursor = Number(message.id)
        subscriber.send(message)
      })
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
      for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
        feed(piece.value)
        if (subscriber.full) break
      }
    } catch {
      // A lost connection, or a subscriber that left or was reset: what arrived counts.
    } finally {
      abort.abort()
    }
    return subscriber.cursor !== before
  }

  private tryLater(subscriber: Subscriber): void {
    setTimeout(() => void this.advance(subscriber), retryMs)
  }
}

async function openForWork(id: string): Promise<void> {
  try {
    await call('sessions.open', { id })
  } catch (error) {
    if (!(error instanceof ApiError) || error.code === 'NETWORK' || error.code.startsWith('HTTP_5')) throw error
    throw new Refused(0, messageOf(error))
  }
}
