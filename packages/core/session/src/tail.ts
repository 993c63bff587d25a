// The newest events of a session in memory. Bounded, unless it is all that there is.
import type { SessionEvent } from './events.ts'

export interface TailLimits {
  readonly events: number
  readonly bytes: number
}

export const STORED_TAIL: TailLimits = { events: 1000, bytes: 4 * 1024 * 1024 }
export const EPHEMERAL_TAIL: TailLimits = { events: Infinity, bytes: Infinity }

export class Tail {
  private readonly limits: TailLimits
  private events: SessionEvent[] = []
  private sizes: number[] = []
  private bytes = 0

  constructor(limits: TailLimits) {
    this.limits = limits
  }

  /** `written`: events below this `seq` may be dropped, they can be read from the file. */
  push(event: SessionEvent, bytes: number, written: number): void {
    this.events.push(event)
    this.sizes.push(bytes)
    this.bytes += bytes
    // Twice the limit, so that dropping costs nothing per event.
    if (this.events.length > 2 * this.limits.events || this.bytes > 2 * this.limits.bytes) this.drop(written)
  }

  /** `seq` of the oldest event held; undefined when there is none. */
  get first(): number | undefined {
    return this.events[0]?.seq
  }

  /** Events `from`…`to` inclusive, as far as they are held. */
  slice(from: number, to: number): SessionEvent[] {
    const first = this.first
    return first === undefined ? [] : this.events.slice(Math.max(0, from - first), Math.max(0, to + 1 - first))
  }

  private drop(written: number): void {
    const { limits, events, sizes } = this
    let count = 0
    while (count < events.length - 1 && (events[count]?.seq ?? Infinity) < written) {
      if (events.length - count <= limits.events && this.bytes <= limits.bytes) break
      this.bytes -= sizes[count] ?? 0
      count++
    }
    if (count === 0) return
    this.events = events.slice(count)
    this.sizes = sizes.slice(count)
  }
}
