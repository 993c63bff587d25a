// Requests of their own may overtake each other on the way; keys must not.

/**
 * Makes a function that sends texts in the order they came: one request at a time, and what comes meanwhile together in the next.
 * After a request that failed the next one goes out all the same; `send` tells of the failure.
 */
export function inOrder(send: (text: string) => Promise<unknown>): (text: string) => void {
  let waiting = ''
  let busy = false
  const run = async (): Promise<void> => {
    busy = true
    while (waiting !== '') {
      const text = waiting
      waiting = ''
      await send(text).catch(() => undefined)
    }
    busy = false
  }
  return (text) => {
    waiting += text
    if (!busy) void run()
  }
}
