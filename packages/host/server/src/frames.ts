// Durable events as bytes on the wire, made once for all readers of a session: twenty tabs share one buffer of a large event.
import type { ScopeKey } from '@deepseek-ai/cordis'
import type { Session, SessionEvent, SessionEventMap } from '@deepseek-ai/dsh-session'
import type { PresentedResult } from '@deepseek-ai/dsh-tools'
import type { Cards } from './cards.ts'
import { sseFrame } from './sse.ts'

/** Encoded frames kept for other readers, in bytes; a single larger one is kept alone. */
const MAX_KEPT_BYTES = 16 * 1024 * 1024
/** Also bounded in number: a small buffer keeps the whole slab of 8 KiB that it was cut from. */
const MAX_KEPT_FRAMES = 1024
/** Calls whose result is yet to come, or came a moment ago. */
const MAX_KEPT_CALLS = 64

type Call = Pick<SessionEventMap['tool/call'], 'name' | 'arguments'>

export class Frames {
  private readonly cards: Cards
  private readonly kept = new Map<number, Buffer>()
  private keptBytes = 0
  private readonly calls = new Map<number, Call>()

  constructor(cards: Cards) {
    this.cards = cards
  }

  /** The frame when another reader has just been sent it. */
  ready(seq: number): Buffer | undefined {
    return this.kept.get(seq)
  }

  async encode(event: SessionEvent, session: Session, scope: ScopeKey | undefined): Promise<Buffer> {
    const ready = this.kept.get(event.seq)
    if (ready !== undefined) return ready
    const frame = sseFrame('event', await this.frameJson(event, session, scope), event.seq)
    this.keep(event.seq, frame)
    return frame
  }

  /** Forgets the frames of events before `seq`. */
  dropBefore(seq: number): void {
    // Mostly in order: they were encoded as the first reader came to them.
    for (const [kept, bytes] of this.kept) {
      if (kept >= seq) break
      this.kept.delete(kept)
      this.keptBytes -= bytes.length
    }
  }

  /** Forgets every frame, since the cards in them may be different now. */
  clear(): void {
    this.kept.clear()
    this.keptBytes = 0
  }

  private async frameJson(event: SessionEvent, session: Session, scope: ScopeKey | undefined): Promise<string> {
    const json = JSON.stringify(event)
    if (event.type === 'tool/call' || event.type === 'tool/sub-call') {
      this.keepCall(event.seq, event.data)
      const card = this.cards.call(event.data, scope)
      return card === undefined ? `{"event":${json}}` : `{"event":${json},"call":${card}}`
    }
    if ((event.type === 'tool/result' || event.type === 'tool/sub-result') && event.data.callSeq !== undefined) {
      const call = await this.callAt(event.data.callSeq, session)
      const card = call === undefined ? undefined : this.cards.result(call, presented(event.data), scope)
      return card === undefined ? `{"event":${json}}` : `{"event":${json},"result":${card}}`
    }
    return `{"event":${json}}`
  }

  private async callAt(seq: number, session: Session): Promise<Call | undefined> {
    const known = this.calls.get(seq)
    if (known !== undefined) return known
    const [event] = await session.read({ from: seq, to: seq, limit: 1 })
    if (event?.type !== 'tool/call' && event?.type !== 'tool/sub-call') return undefined
    this.keepCall(seq, event.data)
    return event.data
  }

  private keepCall(seq: number, call: Call): void {
    this.calls.set(seq, call)
    for (const oldest of this.calls.keys()) {
      if (this.calls.size <= MAX_KEPT_CALLS) break
      this.calls.delete(oldest)
    }
  }

  private keep(seq: number, frame: Buffer): void {
    if (this.kept.has(seq)) return // another reader was quicker
    this.kept.set(seq, frame)
    this.keptBytes += frame.length
    for (const [oldest, bytes] of this.kept) {
      const fits = this.keptBytes <= MAX_KEPT_BYTES && this.kept.size <= MAX_KEPT_FRAMES
      if (fits || this.kept.size === 1) break
      this.kept.delete(oldest)
      this.keptBytes -= bytes.length
    }
  }
}

function presented(data: Pick<SessionEventMap['tool/result'], 'content' | 'isError' | 'meta'>): PresentedResult {
  const { content, isError, meta } = data
  return meta === undefined ? { content, isError } : { content, isError, meta }
}
