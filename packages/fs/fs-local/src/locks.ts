// Writers of one file take turns, whatever path they came by. In this process; between processes the version check stands.

export class Locks {
  readonly #tails = new Map<string, Promise<unknown>>()

  /**
   * Runs `work` once everything asked for under `key` before has ended, however it ended. Who is told to stop while waiting leaves at once,
   * with the signal's reason; from then on `work` is the one to listen.
   */
  async run<T>(key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const before = this.#tails.get(key)
    let left = false
    const turn = async (): Promise<T> => {
      // Whoever waited and left is not to begin. Nobody hears of it.
      if (left) throw signal?.reason
      return work()
    }
    const mine = before === undefined ? turn() : before.then(turn)
    const tail = mine.then(ignore, ignore) // the caller hears of it; who comes after does not
    this.#tails.set(key, tail)
    void tail.then(() => {
      if (this.#tails.get(key) === tail) this.#tails.delete(key)
    })
    if (before === undefined || signal === undefined) return mine
    return Promise.race([mine, leftBefore(before, signal, () => (left = true))])
  }
}

function ignore(): void {}

/** Rejects when the signal fires before the turn has come; never settles otherwise. */
function leftBefore(turn: Promise<unknown>, signal: AbortSignal, onLeft: () => void): Promise<never> {
  return new Promise((_resolve, reject) => {
    const leave = (): void => {
      onLeft()
      reject(signal.reason as Error)
    }
    signal.addEventListener('abort', leave, { once: true })
    void turn.then(() => signal.removeEventListener('abort', leave))
  })
}
