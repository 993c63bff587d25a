// Web Locks as a sign of life: the browser releases them when the tab or the worker that holds them is gone, however it went.

/** Holds a lock of a fresh name until this context ends; resolves to the name once it is held. */
export function holdLock(): Promise<string> {
  const name = `dsh-${crypto.randomUUID()}`
  return new Promise((resolve, reject) => {
    navigator.locks
      .request(name, () => {
        resolve(name)
        return new Promise<never>(() => {})
      })
      .catch(reject)
  })
}

/** Resolves when the holder of the lock has gone. */
export async function whenReleased(name: string): Promise<void> {
  await navigator.locks.request(name, () => {})
}
