// The store of one session: follows its events, folds frames once a frame of the screen, and tells React.
import type { AsideFrame, CaughtUpFrame, ProblemFrame } from '@deepseek-ai/dsh-server/protocol'
import { followSession, retryNow } from '../hub/client.ts'
import type { Connection } from '../stream.ts'
import type { SseMessage } from '../sse.ts'
import { emptySession, foldFrames } from './fold.ts'
import type { Frame, SessionState } from './items.ts'

export interface SessionSnapshot {
  readonly session: SessionState
  /** Approvals, questions, jobs, terminals and permission, as told last. */
  readonly aside: AsideFrame
  readonly connection: Connection
  /** What was said after the last reconnect, for a few seconds. */
  readonly note: { readonly kind: 'caught-up'; readonly events: number } | { readonly kind: 'reloaded' } | undefined
  /** Why the server ended the stream, when it said so. */
  readonly trouble: string | undefined
  /** Why the session cannot be opened at all. */
  readonly problem: string | undefined
}

export interface SessionHandle {
  readonly id: string
  readonly subscribe: (listener: () => void) => () => void
  readonly snapshot: () => SessionSnapshot
  readonly retryNow: () => void
  readonly close: () => void
}

const noteMs = 6000

const emptyAside: AsideFrame = {
  approvals: [],
  questions: [],
  grants: [],
  jobs: [],
  promotable: [],
  terminals: [],
  permission: null,
}

export const initialSnapshot: SessionSnapshot = {
  session: emptySession,
  aside: emptyAside,
  connection: { kind: 'connecting' },
  note: undefined,
  trouble: undefined,
  problem: undefined,
}

export function openSession(id: string): SessionHandle {
  let state = initialSnapshot
  let frames: Frame[] = []
  let scheduled = 0
  let lostAt: number | undefined
  let reloaded = false
  let noteTimer: ReturnType<typeof setTimeout> | undefined
  const listeners = new Set<() => void>()

  const update = (change: Partial<SessionSnapshot>): void => {
    state = { ...state, ...change }
    for (const listener of listeners) listener()
  }
  const flush = (): void => {
    clearTimeout(scheduled)
    scheduled = 0
    const batch = frames
    frames = []
    if (batch.length > 0) update({ session: foldFrames(state.session, batch) })
  }
  // Note: a timer, not an animation frame: a hidden tab paints no frames and must still fold.
  const push = (frame: Frame): void => {
    frames.push(frame)
    if (scheduled === 0) scheduled = setTimeout(flush, state.session.caughtUp ? 16 : 50)
  }
  const say = (note: SessionSnapshot['note']): void => {
    clearTimeout(noteTimer)
    update({ note })
    noteTimer = setTimeout(() => update({ note: undefined }), noteMs)
  }

  function onMessage({ event, data }: SseMessage): void {
    const frame: unknown = JSON.parse(data)
    if (event === 'event' || event === 'live') return push({ kind: event, frame } as Frame)
    if (event === 'aside') return update({ aside: frame as AsideFrame })
    if (event === 'problem') return update({ trouble: (frame as ProblemFrame).message })
    if (event === 'reset') {
      reloaded = true
      return push({ kind: 'reset' })
    }
    if (event !== 'caught-up') return
    push({ kind: 'caught-up', frame: frame as CaughtUpFrame })
    flush()
    if (reloaded) say({ kind: 'reloaded' })
    else if (lostAt !== undefined) say({ kind: 'caught-up', events: state.session.lastSeq - lostAt })
    reloaded = false
    lostAt = undefined
    update({ trouble: undefined })
  }

  function onConnection(connection: Connection): void {
    if (connection.kind === 'waiting') {
      push({ kind: 'lost' })
      lostAt ??= state.session.caughtUp ? state.session.lastSeq : undefined
    }
    update({ connection, problem: connection.kind === 'refused' ? connection.message : undefined })
  }

  const stream = followSession(id, {
    after() {
      flush()
      return state.session.lastSeq
    },
    onMessage,
    onConnection,
  })

  return {
    id,
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    snapshot: () => state,
    retryNow,
    close() {
      stream.close()
      clearTimeout(scheduled)
      clearTimeout(noteTimer)
      listeners.clear()
    },
  }
}
