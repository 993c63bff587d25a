// Folds a session's log into a state that stays current: for plugins that keep their facts as events.
import type { SessionEvent } from './events.ts'
import type { Session } from './types.ts'

const PAGE = 500

/** Pages that were read are kept for so long, for the next plugin that begins to follow: they do so in a row, at the first call. */
const KEPT_MS = 2000
/** A longer log is not kept: who comes late reads it again. */
const MOST_KEPT = 20_000

type Take = (event: SessionEvent) => void

interface Reading {
  /** What was read so far, from the first event on. */
  readonly pages: SessionEvent[][]
  readonly takes: Take[]
  done: Promise<void>
}

const readings = new WeakMap<Session, Reading>()

/**
 * Reads the whole log once, then follows it: no event is missed or taken twice. Followers of one session share the read. The
 * function that it resolves to returns the state as of now. Rejects when the log cannot be read, and then follows no more.
 * `reduce` must not throw; the subscription lives as long as the session.
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
  const take: Take = (event) => {
    if (event.seq < next) return
    next = event.seq + 1
    state = reduce(state, event)
  }
  const unsubscribe = session.subscribe((event) => {
    if (caughtUp) take(event)
    else waiting.push(event)
  })
  const end = session.lastSeq
  try {
    await joinReading(session, take)
    // What came between the start of a shared read and our subscription; memory holds it.
    await readPages(session, next, end, (page) => page.forEach(take))
  } catch (error) {
    unsubscribe()
    throw error
  }
  caughtUp = true
  waiting.forEach(take)
  return () => state
}

function joinReading(session: Session, take: Take): Promise<void> {
  const reading = readings.get(session) ?? startReading(session)
  for (const page of reading.pages) page.forEach(take)
  reading.takes.push(take)
  return reading.done
}

function startReading(session: Session): Reading {
  const reading: Reading = { pages: [], takes: [], done: Promise.resolve() }
  readings.set(session, reading)
  reading.done = readShared(session, reading)
  return reading
}

async function readShared(session: Session, reading: Reading): Promise<void> {
  const forget = (): void => {
    if (readings.get(session) === reading) readings.delete(session)
  }
  let kept = 0
  try {
    await readPages(session, 0, session.lastSeq, (page) => {
      kept += page.length
      if (kept > MOST_KEPT) {
        forget()
        reading.pages.length = 0
      } else reading.pages.push(page)
      for (const take of reading.takes) page.forEach(take)
    })
  } catch (error) {
    forget()
    throw error
  }
  setTimeout(forget, KEPT_MS).unref()
}

async function readPages(
  session: Session,
  start: number,
  end: number,
  onPage: (page: SessionEvent[]) => void,
): Promise<void> {
  for (let from = start; from <= end;) {
    const page = await session.read({ from, to: end, limit: PAGE })
    if (page.length === 0) return
    onPage(page)
    from += page.length
  }
}
