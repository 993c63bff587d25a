// What ends a run from outside, its caller or disposal: the first one counts.

export class Cancellation {
  /** Why the run must end; undefined as long as it need not. */
  message: string | undefined
  private listener: (() => void) | undefined

  cancel(message: string): void {
    if (this.message !== undefined) return
    this.message = message
    this.listener?.()
  }

  /** Calls one listener when the run must end, at once if that is so already. `undefined` takes it back. */
  listen(listener: (() => void) | undefined): void {
    this.listener = listener
    if (this.message !== undefined) listener?.()
  }
}
