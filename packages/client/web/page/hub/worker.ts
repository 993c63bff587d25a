// Runs the hub in a SharedWorker: one for all tabs of the browser. Owns when a tab has gone, which a port does not tell.
import { Hub } from './hub.ts'
import { holdLock, whenReleased } from './locks.ts'
import type { FromHub, FromTab } from './messages.ts'

const hub = new Hub()
const lock = holdLock()

// Note: the types of the page are those of a window; a shared worker gets its tabs as `connect` events.
globalThis.addEventListener('connect', (event) => {
  const port = (event as MessageEvent).ports[0]
  if (port === undefined) return
  const send = (message: FromHub): void => port.postMessage(message, [])
  const tab = hub.connect({ send })
  port.addEventListener('message', ({ data }: MessageEvent<FromTab>) => {
    if (data.kind === 'alive') void whenReleased(data.lock).then(() => tab.gone())
    else tab.receive(data)
  })
  port.start()
  void lock.then((name) => send({ kind: 'alive', lock: name }))
})
