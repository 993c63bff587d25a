// The store of the host: what is installed and which sessions there are. Kept current by `/api/events`.
import type { HostFrame, HostInfo, SessionRow } from '@deepseek-ai/dsh-server/protocol'
import { call, messageOf } from '../api.ts'
import { openStream, type Connection } from '../stream.ts'

export interface HostSnapshot {
  readonly info: HostInfo | undefined
  /** Newest first. */
  readonly sessions: readonly SessionRow[]
  readonly loaded: boolean
  readonly connection: Connection
}

let state: HostSnapshot = { info: undefined, sessions: [], loaded: false, connection: { kind: 'connecting' } }
const listeners = new Set<() => void>()

function update(change: Partial<HostSnapshot>): void {
  state = { ...state, ...change }
  for (const listener of listeners) listener()
}

/** Pure: one change of the list. */
export function applyHostFrame(snapshot: HostSnapshot, frame: HostFrame): HostSnapshot {
  if (frame.kind === 'info') return { ...snapshot, info: frame.info }
  if (frame.kind === 'removed') return { ...snapshot, sessions: snapshot.sessions.filter(({ id }) => id !== frame.id) }
  const others = snapshot.sessions.filter(({ id }) => id !== frame.session.id)
  return { ...snapshot, sessions: newestFirst([frame.session, ...others]) }
}

function newestFirst(sessions: readonly SessionRow[]): SessionRow[] {
  return [...sessions].sort((one, other) => other.updatedAt - one.updatedAt)
}

async function load(): Promise<void> {
  const [info, sessions] = await Promise.all([call('host.info', {}), call('sessions.list', {})])
  update({ info, sessions: newestFirst(sessions), loaded: true })
}

export const host = {
  subscribe: (listener: () => void): (() => void) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  },
  snapshot: (): HostSnapshot => state,
  apply(frame: HostFrame): void {
    update(applyHostFrame(state, frame))
  },
  start(): void {
    openStream({
      url: '/api/events',
      lastEventId: () => undefined,
      // The list is read before each connection, so nothing that changed while offline is missed.
      prepare: load,
      onMessage: ({ event, data }) => {
        if (event === 'host') host.apply(JSON.parse(data) as HostFrame)
      },
      onConnection: (connection) => update({ connection }),
    })
  },
  async rename(id: string, title: string): Promise<string | undefined> {
    const session = state.sessions.find((row) => row.id === id)
    if (session) host.apply({ kind: 'session', session: { ...session, title } })
    try {
      await call('sessions.rename', { id, title })
      return undefined
    } catch (error) {
      if (session) host.apply({ kind: 'session', session })
      return messageOf(error)
    }
  },
}
