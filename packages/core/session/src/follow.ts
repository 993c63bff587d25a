// Folds a session's log into a state that stays current: for plugins that keep their facts as events.
import type { SessionEvent } from './events.ts'
import type { Session } from './types.ts'

const PAGE = 500

/**
 * Reads the whole log once, then follows it: no event is missed or taken twice. The function that it resolves to returns the
 * state as of now. `reduce` must not throw; the subscription lives as long as the session.
 */
export async function followSession<State>(
  session: Session,
  initial: State,
  reduce: (state: State, event: SessionEvent) => State,
): Promise<() => State> {
  let state = initial
  let next = 0
  const waiting: SessionEvent[] = []
  let caughtUp = false
  const take = (event: SessionEvent): void => {
    if (event.seq < next) return
    next = event.seq + 1
    state = reduce(state, event)
  }
  session.subscribe((event) => {
    if (caughtUp) take(event)
    else waiting.push(event)
  })
  const end = session.lastSeq
  for (let from = 0; from <= end;) {
    const page = await session.read({ from, to: end, limit: PAGE })
    if (page.length === 0) break
    page.forEach(take)
    from += page.length
  }
  caughtUp = true
  waiting.forEach(take)
  return () => state
}
