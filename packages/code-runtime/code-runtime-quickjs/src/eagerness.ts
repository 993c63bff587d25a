// Whether it pays to look for an answer for a moment before going to sleep: where answers come soon it saves the wake-up, which
// takes longer than they do; where they do not it takes a core away from whoever should answer. Nobody can tell but by trying.

/** How long a look may last: some wake-ups of a thread, since the other side may be asleep when it begins. */
export const LOOK_MS = 0.15

const MAX_SKIPS = 8

export class Eagerness {
  private skips = 0
  private nextSkips = 1

  /** Asked once before each wait. */
  shouldLook(): boolean {
    if (this.skips === 0) return true
    this.skips -= 1
    return false
  }

  /** Told how each look ended. After one in vain, twice as many waits as the last time go without. */
  looked(found: boolean): void {
    this.skips = found ? 0 : this.nextSkips
    this.nextSkips = found ? 1 : Math.min(this.nextSkips * 2, MAX_SKIPS)
  }
}
