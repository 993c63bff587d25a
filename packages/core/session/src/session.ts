// One live session: assigns sequence numbers, keeps the projection, tells subscribers, hands lines to the file. In memory only
// when it has no file.
import { errorMessage } from '@deepseek-ai/cordis'
import type { LlmMessage } from '@deepseek-ai/dsh-llm'
import { snapshotJson } from '@deepseek-ai/dsh-tools'
import { closed, SessionError } from './errors.ts'
import type { SessionEvent, SessionEventMap, SessionEventType, SessionSummary } from './events.ts'
import { deepFreeze } from './freeze.ts'
import type { LogFile } from './log-file.ts'
import type { Projection } from './projection.ts'
import type { Tail } from './tail.ts'
import type { Session } from './types.ts'

export interface LiveSessionParts {
  readonly id: string
  readonly projection: Projection
  readonly tail: Tail
  /** Where it is written; omitted for a session that is kept in memory only. */
  readonly log?: LogFile
  /** The last event there is; undefined for a session that begins. */
  readonly last: { readonly seq: number; readonly time: number; readonly createdAt: number } | undefined
  /** Must not throw. */
  readonly warn: (message: string) => void
  /** Told after what a list shows has changed. Must not throw. */
  readonly onChange: (session: LiveSession) => void
  /** Runs after the log is closed. */
  readonly onClosed: (session: LiveSession) => void
}

interface Subscriber {
  readonly listener: (event: SessionEvent) => void
  /** `seq` of the first event it is told. */
  readonly from: number
}

const DEFAULT_PAGE = 500
const NOTHING_TO_WRITE = Promise.resolve()
/** What a list shows changes with these. */
const SUMMARY_EVENTS: ReadonlySet<string> = new Set(['session/title', 'user/message', 'turn/start', 'turn/end'])

export class LiveSession implements Session {
  readonly id: string
  createdAt: number
  private readonly parts: LiveSessionParts
  private readonly projection: Projection
  private readonly tail: Tail
  private readonly log: LogFile | undefined
  private readonly subscribers = new Set<Subscriber>()
  private readonly undelivered: SessionEvent[] = []
  private delivering = false
  private lastTime: number
  private closing: Promise<void> | undefined
  lastSeq: number

  constructor(parts: LiveSessionParts) {
    this.parts = parts
    this.id = parts.id
    this.projection = parts.projection
    this.tail = parts.tail
    this.log = parts.log
    this.lastSeq = parts.last?.seq ?? -1
    this.lastTime = parts.last?.time ?? 0
    this.createdAt = parts.last?.createdAt ?? 0
  }

  get cwd(): string {
    return this.projection.cwd
  }

  get title(): string {
    return this.projection.title
  }

  get open(): boolean {
    return this.closing === undefined
  }

  get turn(): number {
    return this.projection.turn
  }

  get header(): SessionEventMap['request/header'] | undefined {
    return this.projection.header
  }

  get model(): SessionEventMap['session/model'] | undefined {
    return this.projection.model
  }

  messages(): readonly LlmMessage[] {
    return this.projection.conversation.messages()
  }

  pending(): readonly SessionEventMap['inbox/added'][] {
    return this.projection.pending()
  }

  append<T extends SessionEventType>(type: T, data: SessionEventMap[T]): SessionEvent<T> {
    if (this.lastSeq >= 0 && (type as string) === 'session/start') {
      throw new SessionError('"session/start" is written once, when the session is created', 'INVALID_EVENT')
    }
    return this.record(type, data, Date.now())
  }

  /** `append` with a time of its own. */
  record<T extends SessionEventType>(type: T, data: SessionEventMap[T], time: number): SessionEvent<T> {
    if (!this.open) throw closed(this.id)
    checkShape(type, data)
    const { log } = this
    const { event, line } = toEntry(this.lastSeq + 1, time, type, data, log !== undefined)
    const { title } = this.projection
    try {
      this.projection.apply(event)
    } catch (error) {
      throw invalid(type, `its data does not have the shape of that type: ${errorMessage(error)}`, error)
    }
    this.lastSeq = event.seq
    this.lastTime = time
    if (event.seq === 0) this.createdAt = time
    if (log === undefined) this.tail.push(event, 0, 0)
    else this.tail.push(event, log.append(event.seq, line), log.written)
    if (this.subscribers.size > 0) this.deliver(event)
    if (SUMMARY_EVENTS.has(type) || title !== this.projection.title) this.parts.onChange(this)
    return event as SessionEvent<T>
  }

  flush(): Promise<void> {
    return this.log?.flush() ?? NOTHING_TO_WRITE
  }

  /** Writes what is queued without waiting for the event loop; for the end of the process. */
  drain(): void {
    this.log?.drain()
  }

  async read(range: { from: number; to?: number; limit?: number }): Promise<SessionEvent[]> {
    const from = Math.max(0, Math.trunc(range.from))
    const limit = Math.max(0, Math.trunc(range.limit ?? DEFAULT_PAGE))
    const to = Math.min(range.to ?? this.lastSeq, this.lastSeq, from + limit - 1)
    if (!(from <= to)) return []
    const recent = this.tail.slice(from, to)
    const held = recent[0]?.seq ?? to + 1
    if (held === from || this.log === undefined) return recent
    return [...(await this.log.read(from, held - 1)), ...recent]
  }

  subscribe(listener: (event: SessionEvent) => void): () => void {
    const subscriber: Subscriber = { listener, from: this.lastSeq + 1 }
    this.subscribers.add(subscriber)
    return () => void this.subscribers.delete(subscriber)
  }

  close(): Promise<void> {
    return (this.closing ??= this.finish())
  }

  summary(): SessionSummary {
    const { id, title, cwd, createdAt } = this
    return {
      id,
      title,
      cwd,
      createdAt,
      updatedAt: this.lastTime,
      events: this.lastSeq + 1,
      interrupted: !this.open && this.projection.turnOpen,
    }
  }

  /** Tells subscribers and the log that writing began to fail; from here on `flush` says so too. */
  reportWriteFailure(error: SessionError): void {
    this.parts.warn(error.message)
    if (this.open) this.append('session/notice', { code: error.code, message: error.message })
  }

  /** Closes what a crash left open. Repair events carry the time of the last event that the crash left. */
  repair(): void {
    const { lastTime: time } = this
    for (const { turn, step, callId, started, outcome } of this.projection.conversation.unanswered()) {
      this.record(
        'tool/result',
        {
          turn,
          step,
          callId,
          ...(started === undefined ? {} : { callSeq: started.seq }),
          content: [{ type: 'text', text: outcome.message }],
          isError: true,
          error: outcome,
          durationMs: started === undefined ? 0 : Math.max(0, time - started.time),
        },
        time,
      )
    }
    if (this.projection.turnOpen) {
      this.record('turn/end', { turn: this.projection.turn, reason: { kind: 'interrupted' } }, time)
    }
  }

  /** Listeners hear each event after all have heard the one before, whoever appends while they listen. */
  private deliver(event: SessionEvent): void {
    this.undelivered.push(event)
    if (this.delivering) return
    this.delivering = true
    for (let next = this.undelivered.shift(); next !== undefined; next = this.undelivered.shift()) this.tell(next)
    this.delivering = false
  }

  private tell(event: SessionEvent): void {
    for (const { listener, from } of this.subscribers) {
      if (event.seq < from) continue
      try {
        listener(event)
      } catch (error) {
        this.parts.warn(`a subscriber failed on event ${event.seq} (${event.type}): ${errorMessage(error)}`)
      }
    }
  }

  private async finish(): Promise<void> {
    try {
      await this.log?.close()
    } finally {
      this.subscribers.clear()
      this.parts.onClosed(this)
    }
  }
}

interface Entry {
  readonly event: SessionEvent
  /** The event as it is written; empty when it is not. */
  readonly line: string
}

function checkShape(type: unknown, data: unknown): void {
  if (typeof type !== 'string' || type === '') throw invalid(String(type), 'the type must be a non-empty string')
  if (typeof data !== 'object' || data === null) throw invalid(type, 'the data must be an object')
}

function toEntry(seq: number, time: number, type: string, data: unknown, written: boolean): Entry {
  try {
    if (!written) {
      const event = { seq, time, type, data: snapshotJson(data) }
      return { event: Object.freeze(event) as unknown as SessionEvent, line: '' }
    }
    const event = { seq, time, type, data: snapshotJson(data, { freeze: false }) }
    const line = JSON.stringify(event)
    // Frozen last: V8 writes a frozen object several times slower.
    return { event: deepFreeze(event) as unknown as SessionEvent, line }
  } catch (error) {
    throw invalid(type, errorMessage(error), error)
  }
}

function invalid(type: string, reason: string, cause?: unknown): SessionError {
  return new SessionError(
    `cannot append a "${type}" event: ${reason}`,
    'INVALID_EVENT',
    cause === undefined ? {} : { cause },
  )
}
