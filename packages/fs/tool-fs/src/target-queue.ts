// Calls that write one file take turns from the look at it to the word that it was written, so that parallel edits all land.

export class TargetQueue {
  readonly #tails = new Map<string, Promise<unknown>>()

  /**
   * Runs `work` once everything asked for under `key` before has ended, however it ended. Rejects with the signal's reason as soon as it
   * fires while the call waits; `work` is not run then. Once it runs, it minds the signal itself.
   */
  run<T>(key: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(key) ?? Promise.resolve()
    return new Promise<T>((resolve, reject) => {
      const giveUp = (): void => reject(signal.reason as Error)
      signal.addEventListener('abort', giveUp, { once: true })
      const mine = before.then(() => {
        signal.removeEventListener('abort', giveUp)
        signal.throwIfAborted()
        return work()
      })
      mine.then(resolve, reject)
      const tail = mine.catch(() => {}) // the caller hears of it; who comes after does not
      this.#tails.set(key, tail)
      void tail.then(() => {
        if (this.#tails.get(key) === tail) this.#tails.delete(key)
      })
    })
  }
}
