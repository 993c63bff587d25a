// Runs the hub in a SharedWorker: one for all tabs of the browser. Owns when a tab has gone, which a port does not tell.
import { Hub } from './hub.ts'
import { holdLock, whenReleased } from './locks.ts'
import type { FromTab } from './messages.ts'

const hub = new Hub()
const lock = holdLock()

// Note: the types of the page are those of a window; a shared worker gets its tabs as `connect` events.
globalThis.addEventListener('connect', (event) => {
  const port = (event as MessageEvent).ports[0]
  if (port === undefined) return
  const tab = hub.connect(port)
  port.onmessage = ({ data }: MessageEvent<FromTab>) => {
    if (data.kind === 'alive') void whenReleased(data.lock).then(tab.gone)
    else tab.receive(data)
  }
  void lock.then((name) => port.postMessage({ kind: 'alive', lock: name }))
})
