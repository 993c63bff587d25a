// Writers of one file take turns, whatever path they came by. In this process; between processes the version check stands.

export class Locks {
  readonly #tails = new Map<string, Promise<unknown>>()

  /** Runs `work` once everything asked for under `key` before has ended, however it ended. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(key) ?? Promise.resolve()
    const mine = before.then(work, work)
    const tail = mine.catch(() => {}) // the caller hears of it; who comes after does not
    this.#tails.set(key, tail)
    try {
      return await mine
    } finally {
      if (this.#tails.get(key) === tail) this.#tails.delete(key)
    }
  }
}
