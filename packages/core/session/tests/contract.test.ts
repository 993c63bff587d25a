// What every session promises, run for both kinds: kept in a file, and kept in memory.
import { describe, expect, it, vi } from 'vitest'
import type { Session, SessionEvent } from '@deepseek-ai/dsh-session'
import { call, calls, fixture, result, say, userMessage, type Fixture } from './support.ts'

describe.each([
  { kind: 'stored', ephemeral: false },
  { kind: 'ephemeral', ephemeral: true },
])('a $kind session', ({ ephemeral }) => {
  const start = async (): Promise<Fixture & { session: Session }> => {
    const parts = await fixture()
    return { ...parts, session: await parts.sessions.create({ id: 's', cwd: '/work', ephemeral }) }
  }

  it('begins with session/start at seq 0', async () => {
    const { session } = await start()
    expect(await session.read({ from: 0 })).toMatchObject([
      { seq: 0, type: 'session/start', data: { format: 1, id: 's', cwd: '/work' } },
    ])
    expect(session).toMatchObject({ id: 's', cwd: '/work', lastSeq: 0, open: true, turn: 0, title: 'New session' })
    expect(session.createdAt).toBeGreaterThan(0)
  })

  it('keeps a detached, deeply frozen copy of what is appended', async () => {
    const { session } = await start()
    const data = { code: 'X', message: 'before' }
    const event = session.append('session/notice', data)
    data.message = 'after'
    expect(event.data.message).toBe('before')
    expect(Object.isFrozen(event) && Object.isFrozen(event.data)).toBe(true)
  })

  it('refuses data that is not lossless JSON or not of its type, and appends nothing', async () => {
    const { session } = await start()
    const append = session.append.bind(session) as (type: string, data: unknown) => unknown
    for (const [type, data] of [
      ['session/notice', { code: 'X', message: Number.NaN }],
      ['session/notice', undefined],
      ['user/message', { turn: 1 }],
      ['inbox/removed', {}],
      ['session/start', { format: 1, id: 's', cwd: '/' }],
      ['', {}],
    ] as const) {
      expect(() => append(type, data)).toThrow(expect.objectContaining({ code: 'INVALID_EVENT' }))
    }
    expect(session.lastSeq).toBe(0)
    expect(session.messages()).toEqual([])
  })

  it('keeps event types that it does not know', async () => {
    const { session } = await start()
    const append = session.append.bind(session) as (type: string, data: unknown) => SessionEvent
    append('my-plugin/thing', { a: [1] })
    expect(await session.read({ from: 1 })).toMatchObject([{ type: 'my-plugin/thing', data: { a: [1] } }])
  })

  it('tells all listeners every event in order when a listener appends', async () => {
    const { session } = await start()
    const heard: string[] = []
    session.subscribe((event) => {
      heard.push(`a${event.seq}`)
      if (event.seq < 3) session.append('session/notice', { code: 'N', message: '' })
    })
    session.subscribe((event) => heard.push(`b${event.seq}`))
    session.append('session/notice', { code: 'N', message: '' })
    expect(heard).toEqual(['a1', 'b1', 'a2', 'b2', 'a3', 'b3'])
  })

  it('tells a listener that joins during a delivery only what comes later', async () => {
    const { session } = await start()
    const heard: number[] = []
    const off = session.subscribe(() => {
      off()
      session.subscribe((event) => heard.push(event.seq))
      session.append('session/notice', { code: 'N', message: '' })
    })
    session.append('session/notice', { code: 'N', message: '' })
    expect(heard).toEqual([2])
  })

  it('logs a listener that throws and keeps it', async () => {
    const { session, log } = await start()
    const listener = vi.fn(() => {
      throw new Error('boom')
    })
    const other = vi.fn()
    session.subscribe(listener)
    session.subscribe(other)
    userMessage(session, 'a')
    userMessage(session, 'b')
    expect(listener).toHaveBeenCalledTimes(2)
    expect(other).toHaveBeenCalledTimes(2)
    expect(log.join('\n')).toContain('boom')
  })

  it('pages from any place, and from memory and file alike', async () => {
    const { session } = await start()
    for (let n = 1; n <= 5000; n++) session.append('session/notice', { code: 'N', message: `${n}` })
    const seqs = async (range: { from: number; to?: number; limit?: number }): Promise<number[]> =>
      (await session.read(range)).map(({ seq }) => seq)
    const span = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, n) => from + n)
    expect(await seqs({ from: 0 })).toEqual(span(0, 499))
    expect(await seqs({ from: 4990 })).toEqual(span(4990, 5000))
    expect(await seqs({ from: 255, to: 257 })).toEqual([255, 256, 257])
    expect(await seqs({ from: 1, limit: 4999 })).toEqual(span(1, 4999))
    expect(await seqs({ from: 5001 })).toEqual([])
    expect(await seqs({ from: 7, to: 3 })).toEqual([])
    expect((await session.read({ from: 300, limit: 1 }))[0]).toMatchObject({ seq: 300, data: { message: '300' } })
  })

  it('derives title, inbox, turn, header and model', async () => {
    const { session } = await start()
    const message = {
      id: 'm1',
      content: [{ type: 'text', text: ' hello\n there ' }],
      source: { kind: 'user' },
    } as const
    session.append('inbox/added', { message, delivery: 'queue' })
    session.append('inbox/added', { message: { ...message, id: 'm2' }, delivery: 'steer' })
    session.append('inbox/added', { message: { ...message, id: 'm3' }, delivery: 'inject' })
    session.append('inbox/removed', { ids: ['m2'] })
    expect(session.pending().map((each) => each.message.id)).toEqual(['m1', 'm3'])
    session.append('turn/start', { turn: 1 })
    session.append('user/message', { turn: 1, message })
    expect(session.pending().map((each) => each.message.id)).toEqual(['m3'])
    expect(session).toMatchObject({ title: 'hello there', turn: 1, header: undefined, model: undefined })
    session.append('session/title', { title: 'Mine', by: 'user' })
    session.append('session/model', { provider: 'p', model: 'm' })
    session.append('request/header', { provider: 'p', model: 'm', system: 'S', tools: [] })
    expect(session).toMatchObject({ title: 'Mine', model: { model: 'm' }, header: { system: 'S' } })
  })

  it('cuts a derived title between code points', async () => {
    const { session } = await start()
    userMessage(session, '😀'.repeat(100))
    expect(session.title).toBe(`${'😀'.repeat(59)}…`)
  })

  it('returns the same conversation until it changes', async () => {
    const { session } = await start()
    userMessage(session, 'hi')
    const before = session.messages()
    session.append('session/notice', { code: 'N', message: '' })
    expect(session.messages()).toBe(before)
    say(session, 'hello')
    expect(session.messages()).not.toBe(before)
    expect(before).toHaveLength(1)
  })

  it('places results behind their assistant message in the order of the calls', async () => {
    const { session } = await start()
    userMessage(session, 'go')
    calls(session, ['a', 'b'])
    const a = call(session, 'a')
    const b = call(session, 'b')
    userMessage(session, 'steered in the middle')
    result(session, 'b', 'B', b)
    result(session, 'a', 'A', a)
    expect(session.messages()).toMatchObject([
      { role: 'user' },
      { role: 'assistant' },
      { role: 'tool', callId: 'a', content: [{ text: 'A' }] },
      { role: 'tool', callId: 'b', content: [{ text: 'B' }] },
      { role: 'user', content: [{ text: 'steered in the middle' }] },
    ])
  })

  it('closes and refuses to go on', async () => {
    const { session, sessions } = await start()
    await session.close()
    await session.close()
    expect(session.open).toBe(false)
    expect(sessions.get('s')).toBeUndefined()
    expect(() => userMessage(session, 'late')).toThrow(expect.objectContaining({ code: 'SESSION_CLOSED' }))
    expect(await session.read({ from: 0 })).toHaveLength(1)
  })

  it('is live under its id until it is deleted', async () => {
    const { session, sessions } = await start()
    expect(sessions.get('s')).toBe(session)
    expect(await sessions.open('s')).toBe(session)
    expect((await sessions.list()).map(({ id }) => id)).toEqual(['s'])
    await expect(sessions.create({ id: 's', cwd: '/' })).rejects.toMatchObject({ code: 'SESSION_EXISTS' })
    await sessions.rename('s', 'Named')
    expect(session.title).toBe('Named')
    await sessions.delete('s')
    expect(session.open).toBe(false)
    expect(await sessions.list()).toEqual([])
    await expect(sessions.open('s')).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' })
    await expect(sessions.delete('s')).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' })
  })
})
