// What of a running turn is visible but not yet logged: batched updates for subscribers, and the state a late joiner needs.
import type { ToolProgress } from '@deepseek-ai/dsh-tools'
import type { AgentLive, AgentSnapshot, AgentStatus } from './types.ts'

/** Newest output kept for each running call, in characters. */
const TAIL = 64 * 1024
const FLUSH_MS = 16
/** A producer that never lets the timer run is flushed by count. */
const MAX_PENDING = 512

type Mutable<T> = { -readonly [K in keyof T]: T[K] }
type Pending = Mutable<AgentLive>

export class LiveFeed {
  private current: AgentStatus = 'idle'
  private text = ''
  private reasoning = ''
  private readonly listeners = new Set<(live: AgentLive) => void>()
  private readonly tails = new Map<string, string>()
  /** Length of the arguments last shown of each call that the model is writing. */
  private readonly shown = new Map<string, number>()
  private pending: Pending[] = []
  private timer: NodeJS.Timeout | undefined
  private readonly report: (error: unknown) => void

  constructor(report: (error: unknown) => void) {
    this.report = report
  }

  get status(): AgentStatus {
    return this.current
  }

  subscribe(listener: (live: AgentLive) => void): () => void {
    const own = (live: AgentLive): void => listener(live) // one listener may subscribe twice
    this.listeners.add(own)
    return () => void this.listeners.delete(own)
  }

  /** Delivers what waits first: a listener that joins with this snapshot would otherwise get that part twice. */
  snapshot(): AgentSnapshot {
    this.flush()
    const progress = Array.from(this.tails, ([callId, text]) => ({ callId, text: lastOf(text, TAIL) }))
    return { status: this.current, text: this.text, reasoning: this.reasoning, progress }
  }

  setStatus(status: AgentStatus): void {
    this.current = status
    this.now({ kind: 'status', status })
  }

  /** A request starts: what an earlier attempt showed is void. */
  attempt(turn: number, step: number, attempt: number): void {
    this.endAnswer()
    this.now({ kind: 'attempt', turn, step, attempt })
  }

  delta(block: 'text' | 'reasoning', text: string): void {
    this[block] += text
    if (this.listeners.size === 0) return
    const last = this.pending.at(-1)
    if (last?.kind === 'delta' && last.block === block) last.text += text
    else this.push({ kind: 'delta', block, text })
  }

  toolCall(callId: string, name: string, written: string): void {
    if (this.listeners.size === 0) return
    const waiting = this.pending.find((each) => each.kind === 'tool-call' && each.callId === callId)
    if (waiting?.kind === 'tool-call') {
      waiting.arguments = written
      return
    }
    // Each update repeats all the text: sending them only as it grows keeps long arguments linear.
    const shown = this.shown.get(callId)
    if (shown !== undefined && written.length - shown < shown / 16) return
    this.shown.set(callId, written.length)
    this.push({ kind: 'tool-call', callId, name, arguments: written })
  }

  startCall(callId: string): void {
    this.tails.set(callId, '')
  }

  progress(callId: string, progress: ToolProgress): void {
    const tail = this.tails.get(callId)
    if (tail === undefined) return // the call has ended
    if (progress.kind === 'text') {
      const grown = tail + lastOf(progress.text, TAIL)
      this.tails.set(callId, grown.length > 2 * TAIL ? lastOf(grown, TAIL) : grown)
    }
    if (this.listeners.size === 0) return
    const last = this.pending.at(-1)
    const merged =
      last?.kind === 'progress' && last.callId === callId ? mergeProgress(last.progress, progress) : undefined
    if (merged !== undefined && last?.kind === 'progress') last.progress = merged
    else this.push({ kind: 'progress', callId, progress })
  }

  /** The result is about to be logged. */
  endCall(callId: string): void {
    this.flush()
    this.tails.delete(callId)
  }

  /** The answer is about to be logged, or dropped. */
  endAnswer(): void {
    this.flush()
    this.text = ''
    this.reasoning = ''
    this.shown.clear()
  }

  /** Delivers what waits. Called before anything durable, so that live and logged never cross. */
  flush(): void {
    if (this.timer !== undefined) {
      clearTimeout(this.timer)
      this.timer = undefined
    }
    if (this.pending.length === 0) return
    const due = this.pending
    this.pending = []
    for (const live of due) {
      if (live.kind === 'tool-call') this.shown.set(live.callId, live.arguments.length)
      this.deliver(live)
    }
  }

  close(): void {
    this.flush()
    this.listeners.clear()
    this.tails.clear()
  }

  private now(live: AgentLive): void {
    this.flush()
    this.deliver(live)
  }

  private push(live: Pending): void {
    this.pending.push(live)
    if (this.pending.length >= MAX_PENDING) this.flush()
    else this.timer ??= setTimeout(() => this.flush(), FLUSH_MS).unref()
  }

  private deliver(live: AgentLive): void {
    for (const listener of this.listeners) {
      try {
        listener(live)
      } catch (error) {
        this.report(error)
      }
    }
  }
}

function mergeProgress(before: ToolProgress, after: ToolProgress): ToolProgress | undefined {
  if (before.kind !== 'text' || after.kind !== 'text') return before.kind === after.kind ? after : undefined
  if (before.stream !== after.stream) return undefined
  return { ...after, text: lastOf(before.text + lastOf(after.text, TAIL), TAIL) }
}

/** The last `length` characters, not starting inside a surrogate pair. */
function lastOf(text: string, length: number): string {
  if (text.length <= length) return text
  const start = text.length - length
  const unit = text.charCodeAt(start)
  return text.slice(unit >= 0xdc00 && unit <= 0xdfff ? start + 1 : start)
}
