// The tab's side of the hub: subscriptions that outlive the worker, and that rest while nobody can see the tab.
import { auth } from '../api.ts'
import type { SseMessage } from '../sse.ts'
import type { Connection } from '../stream.ts'
import { Hub } from './hub.ts'
import { holdLock, whenReleased } from './locks.ts'
import type { FromHub, FromTab } from './messages.ts'

export interface SessionListener {
  /** Asked at each join: `seq` of the newest event that was taken, -1 for none. */
  after(): number
  onMessage(message: SseMessage): void
  onConnection(connection: Connection): void
}

export interface HostListener {
  onFrame(data: string): void
  /** `open` may come again without a loss: what there is must be read anew each time. */
  onConnection(connection: Connection): void
}

/** After this long unseen a tab takes nothing: sessions that nobody looks at need no connection. */
const restAfterMs = 10_000

/** The way to the hub. */
interface HubPort {
  send(message: FromTab): void
}

let port: HubPort | undefined
let hostListener: HostListener | undefined
let nextKey = 1
let resting = false
const joined = new Map<SessionListener, { readonly id: string; key: number }>()

export function followHost(listener: HostListener): void {
  hostListener = listener
  connect()
  let timer: ReturnType<typeof setTimeout> | undefined
  document.addEventListener('visibilitychange', () => {
    clearTimeout(timer)
    if (document.visibilityState === 'hidden') timer = setTimeout(rest, restAfterMs)
    else wake()
  })
}

export function followSession(id: string, listener: SessionListener): { close(): void } {
  const entry = { id, key: 0 }
  joined.set(listener, entry)
  if (!resting) join(listener, entry)
  return {
    close() {
      joined.delete(listener)
      if (entry.key !== 0) send({ kind: 'leave', key: entry.key })
    },
  }
}

export function retryNow(): void {
  send({ kind: 'retry' })
}

function send(message: FromTab): void {
  port?.send(message)
}

function join(listener: SessionListener, entry: { readonly id: string; key: number }): void {
  entry.key = nextKey++
  send({ kind: 'join', key: entry.key, id: entry.id, after: listener.after() })
}

function rest(): void {
  resting = true
  for (const entry of joined.values()) {
    send({ kind: 'leave', key: entry.key })
    entry.key = 0
  }
}

function wake(): void {
  if (!resting) return
  resting = false
  for (const [listener, entry] of joined) join(listener, entry)
}

/** A new port, to a hub that knows nothing of this tab. */
function connect(): void {
  begin(typeof SharedWorker === 'function' && 'locks' in navigator ? sharedPort() : ownPort())
}

function begin(next: HubPort): void {
  port = next
  send({ kind: 'hello', session: location.pathname.startsWith('/s/') })
  if (!resting) for (const [listener, entry] of joined) join(listener, entry)
}

function sharedPort(): HubPort {
  const worker = new SharedWorker(new URL('./worker.ts', import.meta.url), { type: 'module', name: 'dsh' })
  const mine: HubPort = { send: (message) => worker.port.postMessage(message, []) }
  worker.port.addEventListener('message', ({ data }: MessageEvent<FromHub>) => {
    if (mine !== port) return
    if (data.kind === 'alive') void whenReleased(data.lock).then(() => mine === port && connect())
    else receive(data)
  })
  worker.port.start()
  // The script could not be loaded, e.g. an older page after an update.
  worker.addEventListener('error', () => mine === port && begin(ownPort()))
  void holdLock().then((lock) => mine.send({ kind: 'alive', lock }))
  return mine
}

/** Browsers without shared workers: the hub runs here, for this tab alone. */
function ownPort(): HubPort {
  const tab = new Hub().connect({ send: (message) => queueMicrotask(() => receive(message)) })
  return { send: (message) => queueMicrotask(() => tab.receive(message)) }
}

function receive(message: FromHub): void {
  switch (message.kind) {
    case 'messages': {
      send({ kind: 'taken', key: message.key, size: message.size })
      const listener = byKey(message.key)
      for (const each of message.messages) listener?.onMessage(each)
      return
    }
    case 'connection':
      return byKey(message.key)?.onConnection(message.connection)
    case 'host':
      send({ kind: 'taken', size: message.size })
      for (const data of message.messages) hostListener?.onFrame(data)
      return
    case 'host-connection':
      return hostListener?.onConnection(message.connection)
    case 'signed-out':
      // Where the hub runs in this tab, it is told of what it has told.
      if (!auth.signedOut()) auth.refuse()
      return
    case 'alive':
      return
    default:
      message satisfies never
  }
}

function byKey(key: number): SessionListener | undefined {
  for (const [listener, entry] of joined) if (entry.key === key) return listener
  return undefined
}
