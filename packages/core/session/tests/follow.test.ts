// Plugins that keep their facts as events: what each sees of the log, and how often it is read for them.
import { followSession, type Session, type SessionEvent } from '@deepseek-ai/dsh-session'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { fixture, userMessage } from './support.ts'

afterEach(() => vi.useRealTimers())

/** A stored session with so many messages, closed and opened again, so that memory holds none. */
async function resumed(count: number): Promise<Session> {
  const { sessions } = await fixture()
  const session = await sessions.create({ cwd: '/', id: 'followed' })
  for (let index = 0; index < count; index++) userMessage(session, `m${index}`)
  await session.close()
  return sessions.open('followed')
}

const seqs = (all: readonly number[], { seq }: SessionEvent): readonly number[] => [...all, seq]
const follow = (session: Session): Promise<() => readonly number[]> => followSession(session, [], seqs)
const upTo = (last: number): number[] => Array.from({ length: last + 1 }, (_, index) => index)

describe('followers of one session', () => {
  it('share one read when they start together, after one another or in the middle of it', async () => {
    const session = await resumed(1200)
    const read = vi.spyOn(session, 'read')
    const first = follow(session)
    const second = follow(session)
    await read.mock.results[0]?.value
    const third = follow(session)
    const states = [await first, await second, await third, await follow(session)]
    const pages = Math.ceil((session.lastSeq + 1) / 500)
    expect(read).toHaveBeenCalledTimes(pages)
    for (const state of states) expect(state()).toEqual(upTo(session.lastSeq))
  })

  it('miss nothing that is appended while they wait, and take nothing twice', async () => {
    const session = await resumed(1200)
    const first = follow(session)
    userMessage(session, 'during')
    const second = follow(session)
    const states = [await first, await second]
    userMessage(session, 'between')
    states.push(await follow(session))
    userMessage(session, 'after')
    for (const state of states) expect(state()).toEqual(upTo(session.lastSeq))
  })

  it('read again once what was read is let go', async () => {
    const session = await resumed(3)
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    await follow(session)
    vi.advanceTimersByTime(60_000)
    const read = vi.spyOn(session, 'read')
    expect((await follow(session))()).toEqual(upTo(session.lastSeq))
    expect(read).toHaveBeenCalledTimes(1)
  })

  it('all hear of a log that cannot be read, and the next tries again', async () => {
    const session = await resumed(3)
    vi.spyOn(session, 'read').mockRejectedValueOnce(new Error('unreadable'))
    const outcomes = await Promise.allSettled([follow(session), follow(session)])
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect((await follow(session))()).toEqual(upTo(session.lastSeq))
  })
})
