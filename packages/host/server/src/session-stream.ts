// The event stream of one session to one reader: a cursor that pulls stored events at the reader's pace, and what is live in
// between. Holds one page of events and one bounded buffer, however far behind the reader is.
import { errorCode, errorMessage } from '@deepseek-ai/cordis'
import type { AgentLive } from '@deepseek-ai/dsh-agent'
import type { Session, SessionEvent } from '@deepseek-ai/dsh-session'
import type { Feed, Viewer } from './feeds.ts'
import { LiveBuffer } from './live-buffer.ts'
import type { CaughtUpFrame, ProblemFrame, ResetFrame } from './protocol.ts'
import { sseFrame, type SseWriter } from './sse.ts'

const PAGE_EVENTS = { first: 16, most: 256 }
/** A page beyond this makes the next one smaller: single events may be megabytes. */
const PAGE_BYTES = 512 * 1024

export class SessionStream implements Viewer {
  private readonly feed: Feed
  private readonly writer: SseWriter
  private readonly live = new LiveBuffer()
  private readonly warn: (message: string) => void
  /** `seq` of the next durable event to send. */
  private next: number
  private caughtUp = false
  private pageEvents = PAGE_EVENTS.first
  private awake = false
  private wakeUp: (() => void) | undefined

  constructor(feed: Feed, writer: SseWriter, from: number, warn: (message: string) => void) {
    this.feed = feed
    this.writer = writer
    this.next = from
    this.warn = warn
    writer.whenClosed(() => this.wake())
  }

  onEvent(event: SessionEvent): void {
    if (this.caughtUp) this.live.settle(event)
    this.wake()
  }

  onLive(live: AgentLive, after: number): void {
    // Until the stored log is delivered only the number of the attempt matters; the snapshot tells the rest.
    if (!this.caughtUp && live.kind !== 'attempt') return
    this.live.push(live, after)
    this.wake()
  }

  onChange(): void {
    this.wake()
  }

  end(): void {
    this.writer.end()
  }

  /** Resolves when the connection has ended. Never rejects. */
  async run(): Promise<void> {
    try {
      while (!this.writer.closed) await this.step()
    } catch (error) {
      this.warn(`the event stream of the session ${this.feed.id} ended: ${errorMessage(error)}`)
      const problem: ProblemFrame = { code: errorCode(error) ?? 'INTERNAL', message: errorMessage(error) }
      this.writer.write(sseFrame('problem', JSON.stringify(problem)))
      this.writer.end()
    }
  }

  private async step(): Promise<void> {
    if (!this.feed.session.open) await this.feed.reopen()
    const { session } = this.feed
    if (this.next > session.lastSeq + 1) return this.startOver(session)
    if (this.next <= session.lastSeq) return this.sendPage(session)
    if (!this.caughtUp) return this.sendCaughtUp()
    if (!this.live.empty) {
      this.sendLive(Infinity)
      return this.writer.drained()
    }
    await this.woken()
  }

  private async sendPage(session: Session): Promise<void> {
    const to = session.lastSeq
    await this.feed.flushed(to)
    const events = await session.read({ from: this.next, to, limit: this.pageEvents })
    if (events.length === 0) throw new Error(`the events from ${this.next} on cannot be read`)
    let bytes = 0
    for (const event of events) {
      const frame = await this.feed.encode(event)
      if (this.writer.closed) return
      this.sendLive(event.seq)
      this.writer.write(frame)
      this.next = event.seq + 1
      bytes += frame.length
      if (this.writer.full) await this.writer.drained()
    }
    this.pageEvents =
      bytes > PAGE_BYTES
        ? Math.max(1, Math.floor((events.length * PAGE_BYTES) / bytes))
        : Math.min(PAGE_EVENTS.most, this.pageEvents * 2)
  }

  private async sendCaughtUp(): Promise<void> {
    this.caughtUp = true
    this.live.clear()
    const frame: CaughtUpFrame = { seq: this.next - 1, snapshot: this.feed.snapshot() }
    this.writer.write(sseFrame('caught-up', JSON.stringify(frame)))
    await this.writer.drained()
  }

  /** Sends what came up before the event `before`: behind it, it would be out of order. */
  private sendLive(before: number): void {
    for (const live of this.live.take(before, () => this.feed.snapshot())) {
      this.writer.write(sseFrame('live', JSON.stringify(live)))
    }
  }

  /** The reader knows events that the log does not have, e.g. after the file was restored from a copy. */
  private async startOver(session: Session): Promise<void> {
    const reset: ResetFrame = { from: 0, lastSeq: session.lastSeq }
    this.next = 0
    this.caughtUp = false
    this.live.clear()
    this.writer.write(sseFrame('reset', JSON.stringify(reset)))
    await this.writer.drained()
  }

  private woken(): Promise<void> {
    if (this.awake || this.writer.closed) {
      this.awake = false
      return Promise.resolve()
    }
    return new Promise((resolve) => {
      this.wakeUp = () => {
        this.awake = false
        resolve()
      }
    })
  }

  private wake(): void {
    this.awake = true
    this.wakeUp?.()
    this.wakeUp = undefined
  }
}
