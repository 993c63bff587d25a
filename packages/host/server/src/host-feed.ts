// Changes of the session list and of the host, told to every open page. A slow reader gets the newest row of each session, never
// a queue of old ones.
import type { SessionEvent } from '@deepseek-ai/dsh-session'
import { errorMessage } from '@deepseek-ai/cordis'
import type { HostFrame, HostInfo, SessionRow } from './protocol.ts'
import { sseFrame, type SseWriter } from './sse.ts'

export interface HostFeedSources {
  row(id: string): Promise<SessionRow | undefined>
  info(): HostInfo
  warn(message: string): void
}

/** Events that change what a row shows. */
const ROW_EVENTS: ReadonlySet<SessionEvent['type']> = new Set([
  'session/start',
  'session/title',
  'session/model',
  'inbox/added',
  'turn/start',
  'turn/end',
])

export function changesRow(event: SessionEvent): boolean {
  return ROW_EVENTS.has(event.type)
}

/** One open page: the newest frame of each subject that it has yet to get. */
class HostReader {
  private readonly writer: SseWriter
  private readonly waiting = new Map<string, Buffer>()
  private pumping = false

  constructor(writer: SseWriter) {
    this.writer = writer
  }

  put(subject: string, frame: Buffer): void {
    this.waiting.delete(subject)
    this.waiting.set(subject, frame)
    if (!this.pumping) void this.pump()
  }

  end(): void {
    this.writer.end()
  }

  private async pump(): Promise<void> {
    this.pumping = true
    for (const [subject, frame] of this.waiting) {
      if (this.writer.closed) break
      this.waiting.delete(subject)
      this.writer.write(frame)
      if (this.writer.full) await this.writer.drained()
    }
    this.writer.flush()
    this.pumping = false
  }
}

export class HostFeed {
  private readonly sources: HostFeedSources
  private readonly readers = new Set<HostReader>()
  private readonly changed = new Set<string>()
  private working: Promise<void> | undefined

  constructor(sources: HostFeedSources) {
    this.sources = sources
  }

  /** Adds a page; its first frame is the host's info. */
  join(writer: SseWriter): void {
    const reader = new HostReader(writer)
    this.readers.add(reader)
    writer.whenClosed(() => this.readers.delete(reader))
    reader.put('info', frameOf({ kind: 'info', info: this.sources.info() }))
  }

  /** A session's row may be different now. */
  touch(id: string): void {
    if (this.readers.size === 0) return
    this.changed.add(id)
    this.working ??= this.work()
  }

  removed(id: string): void {
    this.changed.delete(id)
    this.send(id, { kind: 'removed', id })
  }

  infoChanged(): void {
    if (this.readers.size > 0) this.send('info', { kind: 'info', info: this.sources.info() })
  }

  close(): void {
    for (const reader of this.readers) reader.end()
  }

  private async work(): Promise<void> {
    // One turn of the event loop gathers the changes of one moment.
    await new Promise<void>((resolve) => setImmediate(resolve))
    for (const id of this.changed) {
      this.changed.delete(id)
      try {
        const session = await this.sources.row(id)
        this.send(id, session === undefined ? { kind: 'removed', id } : { kind: 'session', session })
      } catch (error) {
        this.sources.warn(`the row of the session ${id} cannot be read: ${errorMessage(error)}`)
      }
    }
    this.working = undefined
  }

  private send(subject: string, frame: HostFrame): void {
    const bytes = frameOf(frame)
    for (const reader of this.readers) reader.put(subject, bytes)
  }
}

function frameOf(frame: HostFrame): Buffer {
  return sseFrame('host', JSON.stringify(frame))
}
