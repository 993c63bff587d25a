// The store of the host: what is installed and which sessions there are. Kept current by the host's frames.
import type { HostFrame, HostInfo, SessionRow } from '@deepseek-ai/dsh-server/protocol'
import { auth, call, messageOf } from '../api.ts'
import { followHost } from '../hub/client.ts'
import type { Connection } from '../stream.ts'

export interface HostSnapshot {
  readonly info: HostInfo | undefined
  /** Newest first. */
  readonly sessions: readonly SessionRow[]
  readonly loaded: boolean
  readonly connection: Connection
}

const reloadMs = 1000

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

let loading = 0
/** Frames that came while the list was being read: they are newer than what it says. */
let early: HostFrame[] = []

async function load(): Promise<void> {
  loading++
  try {
    const [info, sessions] = await Promise.all([call('host.info', {}), call('sessions.list', {})])
    update({ info, sessions: newestFirst(sessions), loaded: true })
  } finally {
    loading--
    if (loading === 0) {
      for (const frame of early) update(applyHostFrame(state, frame))
      early = []
    }
  }
}

/** Reads the list once its changes come, so that none is missed. */
function reload(): void {
  load().catch(() => {
    // The connection is mostly lost too, and this runs again when it is back.
    setTimeout(() => state.connection.kind === 'open' && !auth.signedOut() && reload(), reloadMs)
  })
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
    followHost({
      onFrame(data) {
        const frame = JSON.parse(data) as HostFrame
        if (loading === 0) host.apply(frame)
        else early.push(frame)
      },
      onConnection(connection) {
        update({ connection })
        if (connection.kind === 'open') reload()
      },
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
