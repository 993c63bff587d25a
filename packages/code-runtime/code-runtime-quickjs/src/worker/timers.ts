// When the timers of a run are due. The callbacks live in the guest.

/** More than any honest program sets at once; keeps a flood from costing the worker its memory. */
const MAX_TIMERS = 10_000
const MAX_DELAY_MS = 2_147_483_647

interface Timer {
  due: number
  everyMs: number | undefined
  order: number
}

export class Timers {
  private readonly timers = new Map<number, Timer>()
  private order = 0
  private nextDue = Infinity

  get size(): number {
    return this.timers.size
  }

  /** Returns why the timer cannot start. */
  start(id: number, delayMs: number, repeats: boolean, now: number): string | undefined {
    if (this.timers.size >= MAX_TIMERS) return `more than ${MAX_TIMERS} timers at once`
    const delay = Math.min(Math.max(delayMs, 1), MAX_DELAY_MS)
    this.order += 1
    this.timers.set(id, { due: now + delay, everyMs: repeats ? delay : undefined, order: this.order })
    this.nextDue = Math.min(this.nextDue, now + delay)
    return undefined
  }

  stop(id: number): void {
    this.timers.delete(id)
  }

  has(id: number): boolean {
    return this.timers.has(id)
  }

  /** Milliseconds until the next one is due; a stopped one may wake the loop once in vain. */
  wait(now: number): number {
    return this.timers.size === 0 ? Infinity : Math.max(0, this.nextDue - now)
  }

  /** Ids of what is due, soonest first. The caller asks `has` before it fires each: an earlier one may stop a later one. */
  take(now: number): number[] {
    if (now < this.nextDue) return []
    const due = [...this.timers].filter(([, timer]) => timer.due <= now)
    due.sort(([, a], [, b]) => a.due - b.due || a.order - b.order)
    return due.map(([id]) => id)
  }

  /** To be called as a timer fires. */
  fired(id: number, now: number): void {
    const timer = this.timers.get(id)
    if (timer === undefined) return
    if (timer.everyMs === undefined) this.timers.delete(id)
    else timer.due = now + timer.everyMs
  }

  /** To be called after a round. */
  settle(): void {
    this.nextDue = Infinity
    for (const timer of this.timers.values()) this.nextDue = Math.min(this.nextDue, timer.due)
  }
}
