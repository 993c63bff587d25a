// What one reader has yet to be told of a running turn. Merges while the reader is slow, so that its size depends on what is
// running and never on how far behind the reader is.
import type { AgentLive, AgentSnapshot } from '@deepseek-ai/dsh-agent'
import type { SessionEvent } from '@deepseek-ai/dsh-session'

/** Streamed text that a slow reader may have waiting, in UTF-16 units; beyond it the reader gets the whole text anew. */
const MAX_DELTA = 256 * 1024
/** Newest output kept for each running call. */
const MAX_PROGRESS = 64 * 1024

type Attempt = Extract<AgentLive, { kind: 'attempt' }>

interface Entry {
  live: AgentLive
  /** `seq` of the newest durable event when the (first part of the) frame came up: it belongs behind that event. */
  readonly after: number
  /** Characters of output left out before the kept ones. */
  skipped?: number
}

export class LiveBuffer {
  private entries: Entry[] = []
  private deltaLength = 0
  private attempt: Attempt | undefined
  /** False from an assistant message to the next attempt: a late delta would repeat what the message says. */
  private streaming = true
  private overflowed = false

  get empty(): boolean {
    return this.entries.length === 0 && !this.overflowed
  }

  push(live: AgentLive, after: number): void {
    switch (live.kind) {
      case 'status':
        this.drop((entry) => entry.live.kind === 'status')
        this.entries.push({ live, after })
        return
      case 'attempt':
        this.dropStreamed()
        this.streaming = true
        this.attempt = live
        this.entries.push({ live, after })
        return
      case 'delta':
        this.pushDelta(live, after)
        return
      case 'tool-call':
        if (!this.streaming) return
        this.drop((entry) => entry.live.kind === 'tool-call' && entry.live.callId === live.callId)
        this.entries.push({ live, after })
        return
      case 'progress':
        this.pushProgress(live, after)
        return
      default:
        live satisfies never
    }
  }

  /** Forgets what a durable event now says for good. */
  settle(event: SessionEvent): void {
    if (event.type === 'assistant/message' || event.type === 'turn/end') {
      this.dropStreamed()
      this.streaming = false
    }
    if (event.type === 'tool/result') {
      const { callId } = event.data
      this.drop((entry) => entry.live.kind === 'progress' && entry.live.callId === callId)
    }
    if (event.type === 'turn/end') this.drop((entry) => entry.live.kind === 'progress')
  }

  /**
   * Takes the frames that belong before the event `seq`; all of them without it. `snapshot` gives the streamed text when too much of it had
   * come up for this reader to be kept.
   */
  take(seq: number, snapshot: () => AgentSnapshot | undefined): AgentLive[] {
    const due = this.entries.filter((entry) => entry.after < seq)
    this.entries = this.entries.filter((entry) => entry.after >= seq)
    const frames = due.map(finished)
    this.deltaLength = 0
    for (const { live } of this.entries) if (live.kind === 'delta') this.deltaLength += live.text.length
    if (this.overflowed && seq === Infinity) {
      this.overflowed = false
      frames.push(...this.restated(snapshot()))
    }
    return frames
  }

  clear(): void {
    this.entries = []
    this.deltaLength = 0
    this.overflowed = false
    this.streaming = true
  }

  private pushDelta(live: Extract<AgentLive, { kind: 'delta' }>, after: number): void {
    if (!this.streaming || this.overflowed) return
    this.deltaLength += live.text.length
    if (this.deltaLength > MAX_DELTA) {
      this.drop((entry) => entry.live.kind === 'delta')
      this.deltaLength = 0
      this.overflowed = true
      return
    }
    const last = this.entries.findLast((entry) => entry.live.kind === 'delta')
    if (last?.live.kind === 'delta' && last.live.block === live.block) {
      last.live = { ...live, text: last.live.text + live.text }
    } else {
      this.entries.push({ live, after })
    }
  }

  private pushProgress(live: Extract<AgentLive, { kind: 'progress' }>, after: number): void {
    const { callId, progress } = live
    const ofCall = (entry: Entry): boolean => entry.live.kind === 'progress' && entry.live.callId === callId
    if (progress.kind !== 'text') {
      this.drop((entry) => ofCall(entry) && (entry.live as typeof live).progress.kind === progress.kind)
      this.entries.push({ live, after })
      return
    }
    const last = this.entries.findLast((entry) => ofCall(entry) && (entry.live as typeof live).progress.kind === 'text')
    const earlier = last === undefined ? undefined : (last.live as typeof live).progress
    // The two streams of a call alternate; past the bound they merge all the same, so that the number of entries is bounded too.
    const sameStream = earlier?.kind === 'text' && earlier.stream === progress.stream
    const crowded = this.entries.length >= 64
    if (last === undefined || earlier?.kind !== 'text' || (!sameStream && !crowded)) {
      this.entries.push(trimmed({ live, after }))
      return
    }
    last.live = { ...live, progress: { ...earlier, text: earlier.text + progress.text } }
    trimmed(last)
  }

  /** The streamed text from its start: an attempt first, which makes the reader drop what it has. */
  private restated(snapshot: AgentSnapshot | undefined): AgentLive[] {
    if (snapshot === undefined) return []
    const frames: AgentLive[] = [this.attempt ?? { kind: 'attempt', turn: 0, step: 0, attempt: 1 }]
    if (snapshot.reasoning !== '') frames.push({ kind: 'delta', block: 'reasoning', text: snapshot.reasoning })
    if (snapshot.text !== '') frames.push({ kind: 'delta', block: 'text', text: snapshot.text })
    return frames
  }

  private dropStreamed(): void {
    this.drop(({ live }) => live.kind === 'delta' || live.kind === 'tool-call' || live.kind === 'attempt')
    this.deltaLength = 0
    this.overflowed = false
  }

  private drop(unwanted: (entry: Entry) => boolean): void {
    this.entries = this.entries.filter((entry) => !unwanted(entry))
  }
}

/** Keeps the newest output of a call, cut between code points. */
function trimmed(entry: Entry): Entry {
  const { live } = entry
  if (live.kind !== 'progress' || live.progress.kind !== 'text') return entry
  const { text } = live.progress
  // Some slack, so that a flood is not copied for every chunk.
  if (text.length <= MAX_PROGRESS * 2) return entry
  let cut = text.length - MAX_PROGRESS
  const first = text.charCodeAt(cut)
  if (first >= 0xdc00 && first <= 0xdfff) cut++
  entry.skipped = (entry.skipped ?? 0) + cut
  entry.live = { ...live, progress: { ...live.progress, text: text.slice(cut) } }
  return entry
}

function finished(entry: Entry): AgentLive {
  const { live, skipped } = entry
  if (skipped === undefined || live.kind !== 'progress' || live.progress.kind !== 'text') return live
  const text = `\n… ${skipped} characters not shown live …\n${live.progress.text}`
  return { ...live, progress: { ...live.progress, text } }
}
