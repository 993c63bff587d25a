// Calls that write one file take turns from the look at it to the word that it was written, so that parallel edits all land.

export class TargetQueue {
  readonly #tails = new Map<string, Promise<unknown>>()

  /** Runs `work` once everything asked for under `key` before has ended, however it ended. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(key) ?? Promise.resolve()
    const mine = before.then(work)
    const tail = mine.catch(() => {}) // the caller hears of it; who comes after does not
    this.#tails.set(key, tail)
    try {
      return await mine
    } finally {
      if (this.#tails.get(key) === tail) this.#tails.delete(key)
    }
  }
}
