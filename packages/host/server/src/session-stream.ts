// The event stream of one session to one reader: a cursor that pulls stored events at the reader's pace, and what is live in
// between. Holds at most one page of events and one bounded buffer, however far behind the reader is.
import { errorCode, errorMessage } from '@deepseek-ai/cordis'
import type { AgentLive } from '@deepseek-ai/dsh-agent'
import type { Session, SessionEvent } from '@deepseek-ai/dsh-session'
import type { Feed, Viewer } from './feeds.ts'
import { LiveBuffer } from './live-buffer.ts'
import type { CaughtUpFrame, ProblemFrame, ResetFrame } from './protocol.ts'
import { sseFrame, type SseWriter } from './sse.ts'

/** Numbers of the first and the last event to send; `Infinity` for a stream that stays open. */
export interface StreamRange {
  readonly from: number
  readonly to: number
}

export class SessionStream implements Viewer {
  private readonly feed: Feed
  private readonly writer: SseWriter
  private readonly live = new LiveBuffer()
  private readonly warn: (message: string) => void
  /** `seq` of the next durable event to send. */
  next: number
  private readonly last: number
  private caughtUp = false
  private asideChanged = false
  private awake = false
  private wakeUp: (() => void) | undefined

  constructor(feed: Feed, writer: SseWriter, range: StreamRange, warn: (message: string) => void) {
    this.feed = feed
    this.writer = writer
    this.next = range.from
    this.last = range.to
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

  onAside(): void {
    this.asideChanged = true
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
    if (this.last !== Infinity && this.next > Math.min(this.last, session.lastSeq)) return this.writer.end()
    if (this.next > session.lastSeq + 1) return this.startOver(session)
    if (this.next <= session.lastSeq) return this.sendPage(session)
    if (!this.caughtUp) return this.sendCaughtUp()
    if (!this.live.empty) {
      this.sendLive(Infinity)
      return this.writer.drained()
    }
    if (this.asideChanged) return this.sendAside()
    this.feed.tidyFrames()
    await this.woken()
  }

  private async sendPage(session: Session): Promise<void> {
    const to = Math.min(session.lastSeq, this.last)
    await this.feed.flushed(to)
    // What another reader has just been sent need not be read again.
    for (let frame = this.ready(to); frame !== undefined; frame = this.ready(to)) {
      const full = this.sendFrame(frame)
      if (full !== undefined) await full
    }
    this.feed.tidyFrames()
    if (this.next > to || this.writer.closed) return this.writer.drained()
    const events = await this.feed.page(this.next, to)
    if (events.length === 0) throw new Error(`the events from ${this.next} on cannot be read`)
    for (const event of events) {
      const frame = this.ready(to) ?? (await this.feed.encode(event))
      if (this.writer.closed) return
      const full = this.sendFrame(frame)
      if (full !== undefined) await full
    }
    this.feed.tidyFrames()
    await this.writer.drained()
  }

  private ready(to: number): Buffer | undefined {
    return this.next <= to && !this.writer.closed ? this.feed.frames.ready(this.next) : undefined
  }

  private sendFrame(frame: Buffer): Promise<void> | undefined {
    this.sendLive(this.next)
    this.writer.write(frame)
    this.next++
    return this.writer.full ? this.writer.drained() : undefined
  }

  private async sendCaughtUp(): Promise<void> {
    this.caughtUp = true
    this.live.clear()
    const frame: CaughtUpFrame = { seq: this.next - 1, snapshot: this.feed.snapshot() }
    this.writer.write(sseFrame('caught-up', JSON.stringify(frame)))
    this.asideChanged = true
    await this.writer.drained()
  }

  private async sendAside(): Promise<void> {
    this.asideChanged = false
    const frame = await this.feed.aside()
    this.writer.write(sseFrame('aside', JSON.stringify(frame)))
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
