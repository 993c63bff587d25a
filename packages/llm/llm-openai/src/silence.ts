// Notices when a server has gone silent in the middle of an answer.

/** Calls `onSilence` once when `touch()` has not been called for the time that runs. Paused: time does not count. */
export class Silence {
  private readonly onSilence: () => void
  private afterMs = 0
  private timer: NodeJS.Timeout | undefined

  constructor(onSilence: () => void) {
    this.onSilence = onSilence
  }

  /** Runs, from now. */
  watch(afterMs: number): void {
    this.pause()
    this.afterMs = afterMs
    this.timer = setTimeout(this.onSilence, this.afterMs)
  }

  touch(): void {
    this.timer?.refresh()
  }

  /** A reader that takes its time is not the server's silence. */
  pause(): void {
    clearTimeout(this.timer)
    this.timer = undefined
  }
}
