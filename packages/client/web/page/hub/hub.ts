// What all tabs of a browser share: one stream per session, one of which carries the host's frames, or a bare one when there is
// none. A browser allows six connections to a server: with streams of their own, the fourth tab would get no answer any more.
import { auth } from '../api.ts'
import { openStream, type Connection, type EventStream } from '../stream.ts'
import type { FromHub, FromTab } from './messages.ts'
import { SharedSession } from './shared-session.ts'
import { Subscriber } from './subscriber.ts'

/** The way to a tab. Messages arrive in order and later, never within `send`. */
export interface TabPort {
  send(message: FromHub): void
}

interface Tab {
  readonly port: TabPort
  readonly joined: Map<number, { readonly id: string; readonly subscriber: Subscriber }>
  hostWaiting: number
  /** Frames were left out: the list must be read anew. */
  hostBehind: boolean
}

const hostWindow = 256 * 1024
/** How long a tab that announced a session may take to join it, before the host gets a stream of its own. */
const patienceMs = 300
const pastsAtOnce = 2

export class Hub {
  private readonly tabs = new Set<Tab>()
  private readonly sessions = new Map<string, SharedSession>()
  private carrier: SharedSession | undefined
  private bare: EventStream | undefined
  private patience: ReturnType<typeof setTimeout> | undefined
  private hostConnection: Connection = { kind: 'connecting' }
  private working = 0
  private readonly queue: (() => void)[] = []

  constructor() {
    auth.subscribe(() => this.tell({ kind: 'signed-out' }))
  }

  /** Adds a tab. The returned functions take its messages, and what to do when it has gone. */
  connect(port: TabPort): { receive(message: FromTab): void; gone(): void } {
    const tab: Tab = { port, joined: new Map(), hostWaiting: 0, hostBehind: false }
    return { receive: (message) => this.receive(tab, message), gone: () => this.gone(tab) }
  }

  private receive(tab: Tab, message: FromTab): void {
    switch (message.kind) {
      case 'hello':
        this.tabs.add(tab)
        tab.port.send({ kind: 'host-connection', connection: this.hostConnection })
        return this.ensureHost(message.session ? patienceMs : 0)
      case 'join':
        return this.join(tab, message.key, message.id, message.after)
      case 'leave':
        return this.leave(tab, message.key)
      case 'taken':
        return this.taken(tab, message.key, message.size)
      case 'retry':
        return this.retry(tab)
      case 'alive':
        return // the owner of the port follows the lock
      default:
        message satisfies never
    }
  }

  private retry(tab: Tab): void {
    if (this.hostConnection.kind === 'waiting') this.bare?.retryNow()
    for (const { id } of tab.joined.values()) {
      const shared = this.sessions.get(id)
      if (shared?.connection.kind === 'waiting') shared.retryNow()
    }
  }

  private join(tab: Tab, key: number, id: string, after: number): void {
    const known = this.sessions.get(id)
    // Refused for good is not for ever: a person may have signed in again.
    if (known?.connection.kind === 'refused') known.retryNow()
    const shared = known ?? this.open(id, after)
    const subscriber = new Subscriber(after, (messages, size) =>
      tab.port.send({ kind: 'messages', key, messages, size }),
    )
    tab.joined.set(key, { id, subscriber })
    shared.join(subscriber, (connection) => tab.port.send({ kind: 'connection', key, connection }))
  }

  private open(id: string, after: number): SharedSession {
    const shared: SharedSession = new SharedSession(id, after, {
      wantsHost: () => {
        this.carrier ??= this.sessions.get(id)
        return this.carrier !== undefined && this.carrier === this.sessions.get(id)
      },
      onHostMessage: (data) => this.tellHost(data),
      onConnection: (connection) => {
        if (this.carrier !== undefined && this.carrier === this.sessions.get(id)) this.carried(connection)
      },
      inTurn: (work) => this.inTurn(work),
    })
    this.sessions.set(id, shared)
    return shared
  }

  private leave(tab: Tab, key: number): void {
    const joined = tab.joined.get(key)
    if (joined === undefined) return
    tab.joined.delete(key)
    const shared = this.sessions.get(joined.id)
    shared?.leave(joined.subscriber)
    if (shared === undefined || shared.subscribers.size > 0) return
    shared.close()
    this.sessions.delete(joined.id)
    if (this.carrier !== shared) return
    this.carrier = undefined
    // A tab that goes to another session joins it in a moment.
    this.ensureHost(patienceMs)
  }

  private taken(tab: Tab, key: number | undefined, size: number): void {
    if (key !== undefined) {
      const joined = tab.joined.get(key)
      if (joined !== undefined) this.sessions.get(joined.id)?.taken(joined.subscriber, size)
      return
    }
    tab.hostWaiting -= size
    if (!tab.hostBehind || tab.hostWaiting > 0) return
    tab.hostBehind = false
    tab.port.send({ kind: 'host-connection', connection: this.hostConnection })
  }

  private gone(tab: Tab): void {
    this.tabs.delete(tab)
    for (const key of Array.from(tab.joined.keys())) this.leave(tab, key)
    if (this.tabs.size > 0) return
    clearTimeout(this.patience)
    this.bare?.close()
    this.bare = undefined
  }

  /** The stream that carries the host's frames came or went; while it is away, a bare one carries them. */
  private carried(connection: Connection): void {
    if (connection.kind === 'open') {
      clearTimeout(this.patience)
      this.bare?.close()
      this.bare = undefined
      return this.hostChanged(connection)
    }
    if (connection.kind === 'connecting') return
    if (connection.kind === 'refused') this.carrier = undefined
    this.ensureHost(0)
  }

  private ensureHost(delay: number): void {
    clearTimeout(this.patience)
    this.patience = setTimeout(() => {
      if (this.tabs.size === 0 || this.carrier?.connection.kind === 'open') return
      if (this.hostConnection.kind === 'refused') this.bare?.retryNow()
      this.bare ??= openStream({
        url: () => '/api/events',
        lastEventId: () => undefined,
        onMessage: ({ event, data }) => event === 'host' && this.tellHost(data),
        onConnection: (connection) => this.hostChanged(connection),
      })
    }, delay)
  }

  private hostChanged(connection: Connection): void {
    this.hostConnection = connection
    for (const tab of this.tabs) tab.hostBehind = false
    this.tell({ kind: 'host-connection', connection })
  }

  private tellHost(data: string): void {
    for (const tab of this.tabs) {
      tab.hostBehind ||= tab.hostWaiting > hostWindow
      if (tab.hostBehind) continue
      tab.hostWaiting += data.length
      tab.port.send({ kind: 'host', messages: [data], size: data.length })
    }
  }

  private tell(message: FromHub): void {
    for (const { port } of this.tabs) port.send(message)
  }

  private async inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.working >= pastsAtOnce) await new Promise<void>((resolve) => this.queue.push(resolve))
    else this.working++
    try {
      return await work()
    } finally {
      const next = this.queue.shift()
      if (next === undefined) this.working--
      else next() // takes the place over
    }
  }
}
