// What is in the folder, and what opening does with what it finds there.
import { appendFileSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Session, SessionEvent } from '@deepseek-ai/dsh-session'
import {
  call,
  calls,
  fixture,
  result,
  say,
  startSessions,
  temporaryFolder,
  userMessage,
  type Fixture,
} from './support.ts'

const path = (dir: string, id = 's'): string => join(dir, `${id}.jsonl`)
const lines = (dir: string, id = 's'): SessionEvent[] =>
  readFileSync(path(dir, id), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as SessionEvent)

/** A closed session with a finished turn, and how its file reads. */
async function finished(parts: Fixture): Promise<Buffer> {
  const session = await parts.sessions.create({ id: 's', cwd: '/work' })
  session.append('turn/start', { turn: 1 })
  userMessage(session, 'héllo 😀 \u2028 there')
  say(session, 'hello')
  session.append('turn/end', { turn: 1, reason: { kind: 'completed' } })
  await session.close()
  return readFileSync(path(parts.dir))
}

function write(dir: string, events: readonly [string, object][], id = 's'): void {
  const all = [['session/start', { format: 1, id, cwd: '/work' }], ...events] as const
  writeFileSync(
    path(dir, id),
    all.map(([type, data], seq) => `${JSON.stringify({ seq, time: 1000 + seq, type, data })}\n`).join(''),
  )
}

describe('the file of a session', () => {
  it('holds exactly {seq,time,type,data} a line, in order, readable by its owner only', async () => {
    const parts = await fixture()
    await finished(parts)
    const events = lines(parts.dir)
    expect(events.map((event) => Object.keys(event))).toEqual(events.map(() => ['seq', 'time', 'type', 'data']))
    expect(events.map(({ seq }) => seq)).toEqual([0, 1, 2, 3, 4])
    expect(statSync(path(parts.dir)).mode & 0o777).toBe(0o600)
    expect(readdirSync(parts.dir)).toEqual(['s.jsonl'])
  })

  it('is complete after flush, under every fsync policy', async () => {
    for (const fsync of ['always', 'batch', 'never'] as const) {
      const { dir, sessions } = await fixture({ fsync })
      const session = await sessions.create({ id: 's', cwd: '/' })
      for (let n = 0; n < 1000; n++) userMessage(session, `${n}`)
      await Promise.all([session.flush(), session.flush()])
      expect(lines(dir)).toHaveLength(1001)
    }
  })

  it('goes on where it ended, with all that was derived', async () => {
    const parts = await fixture()
    const before = await finished(parts)
    const session = await parts.sessions.open('s')
    expect(session).toMatchObject({ cwd: '/work', lastSeq: 4, turn: 1, title: 'héllo 😀 there' })
    expect(session.messages()).toMatchObject([{ role: 'user' }, { role: 'assistant' }])
    userMessage(session, 'again', 2)
    await session.close()
    expect(readFileSync(path(parts.dir)).subarray(0, before.length)).toEqual(before)
    expect(lines(parts.dir).map(({ seq }) => seq)).toEqual([0, 1, 2, 3, 4, 5])
  })

  it('is written when the host ends, without a flush', async () => {
    const { dir, host, sessions } = await fixture()
    const session = await sessions.create({ id: 's', cwd: '/' })
    userMessage(session, 'last words')
    await host.dispose()
    expect(session.open).toBe(false)
    expect(lines(dir)).toHaveLength(2)
    expect(readdirSync(dir)).toEqual(['s.jsonl'])
    await expect(sessions.open('s')).rejects.toMatchObject({ code: 'SESSIONS_STOPPED' })
  })

  it('takes what a consumer still logs when the host ends', async () => {
    const { dir, host } = await fixture()
    await host.ctx.plugin({
      name: 'consumer',
      inject: ['sessions'],
      async apply(ctx) {
        const session = await ctx.sessions.create({ id: 's', cwd: '/' })
        ctx.effect(() => async () => {
          await new Promise((resolve) => setImmediate(resolve))
          session.append('session/notice', { code: 'BYE', message: '' })
        })
      },
    })
    await host.dispose()
    expect(lines(dir).at(-1)).toMatchObject({ data: { code: 'BYE' } })
  })
})

describe('a torn end', () => {
  it('is dropped with a notice, wherever the last line was cut', async () => {
    const parts = await fixture()
    const whole = await finished(parts)
    const lastLine = whole.lastIndexOf('\n', whole.length - 2) + 1
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: lastLine, max: whole.length }), async (cut) => {
        writeFileSync(path(parts.dir), whole.subarray(0, cut))
        const session = await parts.sessions.open('s')
        await session.close()
        const events = lines(parts.dir)
        expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index))
        const last = events.slice(4).map((event) => (event.type === 'session/notice' ? event.data.code : event.type))
        // Whole but for its LF: nothing is lost. Nothing of it there: only the turn is open. Else: dropped, and said so.
        if (cut >= whole.length - 1) expect(last).toEqual(['turn/end'])
        else if (cut === lastLine) expect(last).toEqual(['turn/end'])
        else expect(last).toEqual(['TORN_LINE_DROPPED', 'turn/end'])
      }),
      { numRuns: 60, examples: [[lastLine], [lastLine + 1], [whole.length - 2], [whole.length - 1], [whole.length]] },
    )
  })

  it('of zero bytes, as after a power cut, is dropped too', async () => {
    const parts = await fixture()
    await finished(parts)
    appendFileSync(path(parts.dir), Buffer.alloc(4096))
    const session = await parts.sessions.open('s')
    expect((await session.read({ from: 5 }))[0]).toMatchObject({
      type: 'session/notice',
      data: { code: 'TORN_LINE_DROPPED', message: expect.stringContaining('4096 bytes') },
    })
  })
})

describe('damage', () => {
  it.each([
    ['a line that is not JSON', 3, (all: string[]) => all.with(2, '{oops')],
    ['an empty line', 3, (all: string[]) => all.with(2, '')],
    ['a gap', 3, (all: string[]) => all.toSpliced(2, 1)],
    ['a line twice', 4, (all: string[]) => all.toSpliced(2, 0, all[2] ?? '')],
    ['a line that is not an event', 2, (all: string[]) => all.with(1, '{"seq":1}')],
    ['data of another shape', 3, (all: string[]) => all.with(2, '{"seq":2,"time":1,"type":"user/message","data":{}}')],
    ['another first event', 1, (all: string[]) => all.with(0, '{"seq":0,"time":1,"type":"turn/start","data":{}}')],
  ])('by %s is refused with its line and left untouched', async (_, line, damage) => {
    const parts = await fixture()
    const all = (await finished(parts)).toString('utf8').split('\n')
    writeFileSync(path(parts.dir), damage(all).join('\n'))
    const before = readFileSync(path(parts.dir))
    await expect(parts.sessions.open('s')).rejects.toMatchObject({
      code: 'SESSION_CORRUPT',
      message: expect.stringContaining(`line ${line}:`),
    })
    expect(readFileSync(path(parts.dir))).toEqual(before)
    expect(existsSync(join(parts.dir, 's.lock'))).toBe(false)
  })

  it('by bytes that are not UTF-8 is refused', async () => {
    const parts = await fixture()
    const whole = await finished(parts)
    whole[whole.indexOf('there')] = 0xff
    writeFileSync(path(parts.dir), whole)
    await expect(parts.sessions.open('s')).rejects.toMatchObject({ code: 'SESSION_CORRUPT' })
  })

  it('of an empty file is refused and not listed', async () => {
    const { dir, sessions } = await fixture()
    writeFileSync(path(dir), '')
    await expect(sessions.open('s')).rejects.toMatchObject({ code: 'SESSION_CORRUPT' })
    expect(await sessions.list()).toEqual([])
  })

  it('is told from a format of another version', async () => {
    const { dir, sessions } = await fixture()
    writeFileSync(path(dir), '{"seq":0,"time":1,"type":"session/start","data":{"format":2,"id":"s","cwd":"/"}}\n')
    await expect(sessions.open('s')).rejects.toMatchObject({
      code: 'SESSION_FORMAT',
      message: expect.stringContaining('format 2'),
    })
  })

  it('of one log leaves the others in the list', async () => {
    const parts = await fixture()
    await finished(parts)
    writeFileSync(path(parts.dir, 'bad'), 'nonsense\n')
    expect((await parts.sessions.list()).map(({ id }) => id)).toEqual(['s'])
    expect(parts.log.join('\n')).toContain('"bad"')
  })
})

describe('opening what a crash left', () => {
  const model = { provider: 'p', model: 'm' }
  const toolCalls = (...ids: string[]): [string, object] => [
    'assistant/message',
    {
      turn: 1,
      step: 1,
      content: ids.map((id) => ({ type: 'tool-call', id, name: 'greet', arguments: '{}' })),
      model,
      durationMs: 1,
    },
  ]

  it('closes unanswered calls by what is known of them, and the turn', async () => {
    const { dir, sessions } = await fixture()
    write(dir, [
      ['turn/start', { turn: 1 }],
      toolCalls('done', 'started', 'waiting'),
      ['tool/call', { turn: 1, step: 1, callId: 'done', name: 'greet', arguments: '{}' }],
      ['tool/call', { turn: 1, step: 1, callId: 'started', name: 'greet', arguments: '{}' }],
      ['tool/result', { turn: 1, step: 1, callId: 'done', callSeq: 3, content: [], isError: false, durationMs: 1 }],
    ])
    const session = await sessions.open('s')
    const repair = await session.read({ from: 6 })
    expect(repair).toMatchObject([
      {
        type: 'tool/result',
        time: 1005,
        data: { callId: 'started', callSeq: 4, isError: true, error: { code: 'TOOL_OUTCOME_UNKNOWN' } },
      },
      {
        type: 'tool/result',
        time: 1005,
        data: { callId: 'waiting', isError: true, error: { code: 'TOOL_NOT_STARTED' } },
      },
      { type: 'turn/end', time: 1005, data: { turn: 1, reason: { kind: 'interrupted' } } },
    ])
    expect(repair[1]?.data).not.toHaveProperty('callSeq')
    expect(session.messages().map((each) => (each.role === 'tool' ? each.callId : each.role))).toEqual([
      'assistant',
      'done',
      'started',
      'waiting',
    ])
  })

  it('is done once', async () => {
    const { dir, sessions } = await fixture()
    write(dir, [['turn/start', { turn: 1 }], toolCalls('a')])
    await (await sessions.open('s')).close()
    const repaired = readFileSync(path(dir))
    const session = await sessions.open('s')
    await session.close()
    expect(readFileSync(path(dir))).toEqual(repaired)
  })

  it('is not done by listing', async () => {
    const { dir, sessions } = await fixture()
    write(dir, [['turn/start', { turn: 1 }], toolCalls('a')])
    appendFileSync(path(dir), '{"seq":3,"ti')
    const before = readFileSync(path(dir))
    expect(await sessions.list()).toMatchObject([{ id: 's', interrupted: true, events: 3, updatedAt: 1002 }])
    expect(readFileSync(path(dir))).toEqual(before)
    await sessions.open('s')
    expect(await sessions.list()).toMatchObject([{ id: 's', interrupted: false, events: 6 }])
  })

  it('leaves waiting messages in the inbox', async () => {
    const { dir, sessions } = await fixture()
    const message = { id: 'm', content: [{ type: 'text', text: 'x' }], source: { kind: 'user' } }
    write(dir, [['inbox/added', { message, delivery: 'queue' }]])
    expect((await sessions.open('s')).pending()).toMatchObject([{ message: { id: 'm' }, delivery: 'queue' }])
  })
})

describe('one writer', () => {
  it('gives concurrent opens the same live session', async () => {
    const parts = await fixture()
    await finished(parts)
    const opened = await Promise.all([1, 2, 3].map(async () => parts.sessions.open('s')))
    expect(new Set(opened).size).toBe(1)
  })

  it('keeps opening, closing and deleting of one id apart', async () => {
    const parts = await fixture()
    await finished(parts)
    const first = await parts.sessions.open('s')
    const [, second] = await Promise.all([first.close(), parts.sessions.open('s')])
    expect(second).not.toBe(first)
    expect(second.open).toBe(true)
    const outcomes = await Promise.allSettled([parts.sessions.delete('s'), parts.sessions.open('s')])
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
    expect(readdirSync(parts.dir)).toEqual([])
  })

  it('refuses a second host while the first has the session open, then lets it', async () => {
    const parts = await fixture()
    const other = await startSessions(parts.dir)
    const session = await parts.sessions.create({ id: 's', cwd: '/' })
    for (const attempt of [other.sessions.open('s'), other.sessions.delete('s'), other.sessions.rename('s', 'x')]) {
      await expect(attempt).rejects.toMatchObject({
        code: 'SESSION_LOCKED',
        message: expect.stringMatching(new RegExp(`process.*${process.pid}.*remove .*s\\.lock`)),
      })
    }
    await session.close()
    await other.sessions.rename('s', 'theirs')
    expect((await parts.sessions.open('s')).title).toBe('theirs')
  })

  it.each([
    ['a dead process', { pid: 2 ** 22 + 1, host: hostname(), token: 't' }],
    ['a process whose id was given to another', { pid: process.pid, host: hostname(), began: '1', token: 't' }],
    ['nobody who can be told', 'not a lock'],
  ])('takes over the lock of %s', async (_, owner) => {
    const parts = await fixture()
    await finished(parts)
    writeFileSync(join(parts.dir, 's.lock'), typeof owner === 'string' ? owner : JSON.stringify(owner))
    const session = await parts.sessions.open('s')
    await session.close()
    expect(readdirSync(parts.dir)).toEqual(['s.jsonl'])
  })

  it('does not judge a process of another machine', async () => {
    const parts = await fixture()
    await finished(parts)
    const lock = JSON.stringify({ pid: 1, host: 'elsewhere.example', token: 't' })
    writeFileSync(join(parts.dir, 's.lock'), lock)
    await expect(parts.sessions.open('s')).rejects.toThrow(/process 1 on elsewhere\.example/)
    expect(readFileSync(join(parts.dir, 's.lock'), 'utf8')).toBe(lock)
  })
})

describe('a log that cannot be written', () => {
  it('is told by flush and once to subscribers, and harms nobody else', async () => {
    const { dir, sessions, log } = await fixture()
    const session = await sessions.create({ id: 's', cwd: '/' })
    const notices: SessionEvent[] = []
    session.subscribe((event) => void (event.type === 'session/notice' && notices.push(event)))
    rmSync(dir, { recursive: true })
    userMessage(session, 'a')
    await expect(session.flush()).rejects.toMatchObject({ code: 'SESSION_WRITE_FAILED' })
    userMessage(session, 'b')
    await expect(session.flush()).rejects.toMatchObject({ code: 'SESSION_WRITE_FAILED' })
    expect(notices).toMatchObject([{ data: { code: 'SESSION_WRITE_FAILED' } }])
    expect(log.join('\n')).toContain('removed while it was open')
    expect(session.messages()).toHaveLength(2)
    await expect(session.close()).rejects.toMatchObject({ code: 'SESSION_WRITE_FAILED' })
    expect(sessions.get('s')).toBeUndefined()
    await sessions.create({ id: 't', cwd: '/' })
    expect(readdirSync(dir).toSorted()).toEqual(['t.jsonl', 't.lock'])
  })
})

describe('ids and options', () => {
  it.each(['', '../x', 'a/b', 'a.b', 'x'.repeat(65), 'ü', '.', 5 as never])('refuses the id %j', async (id) => {
    const { dir, sessions } = await fixture()
    await expect(sessions.create({ id, cwd: '/' })).rejects.toMatchObject({ code: 'INVALID_SESSION_ID' })
    await expect(sessions.open(id)).rejects.toMatchObject({ code: 'INVALID_SESSION_ID' })
    await expect(sessions.delete(id)).rejects.toMatchObject({ code: 'INVALID_SESSION_ID' })
    expect(readdirSync(dir)).toEqual([])
  })

  it('refuses a relative folder and an empty title', async () => {
    const { sessions } = await fixture()
    await expect(sessions.create({ cwd: 'work' })).rejects.toMatchObject({ code: 'INVALID_SESSION_OPTIONS' })
    const { id } = await sessions.create({ cwd: '/', ephemeral: true })
    await expect(sessions.rename(id, '  ')).rejects.toMatchObject({ code: 'INVALID_SESSION_OPTIONS' })
  })

  it('does not take over a file that is there', async () => {
    const parts = await fixture()
    const before = await finished(parts)
    await expect(parts.sessions.create({ id: 's', cwd: '/' })).rejects.toMatchObject({ code: 'SESSION_EXISTS' })
    expect(readFileSync(path(parts.dir))).toEqual(before)
  })

  it.each([
    [{ dir: 'relative' }, /"dir" must be the absolute path.*"relative"/],
    [{}, /"dir".*got nothing/],
    [{ fsync: 'sometimes' }, /"fsync" must be "always", "batch" or "never", got "sometimes"/],
    [{ folder: '/' }, /unknown field "folder"; known: dir, fsync/],
  ])('refuses the config %j by field', async (config, message) => {
    const dir = temporaryFolder()
    const given = 'dir' in config || message.source.includes('nothing') ? config : { dir, ...config }
    await expect(startSessionsWith(given)).rejects.toThrow(message)
  })
})

async function startSessionsWith(config: object): Promise<unknown> {
  const { createHost } = await import('@deepseek-ai/cordis')
  const { Sessions } = await import('@deepseek-ai/dsh-session')
  const host = createHost({ write: () => {} })
  try {
    return await host.ctx.plugin(Sessions, config as never)
  } finally {
    await host.dispose()
  }
}

describe('events of the host', () => {
  it('tell of creation, change and deletion, and a failing listener starves nobody', async () => {
    const { host, sessions } = await fixture()
    const told: string[] = []
    host.ctx.on('session/created', () => {
      throw new Error('listener')
    })
    host.ctx.on('session/created', (session: Session) => void told.push(`created ${session.id}`))
    host.ctx.on('session/changed', ({ id, title, events }) => void told.push(`changed ${id} ${title} ${events}`))
    host.ctx.on('session/deleted', (id) => void told.push(`deleted ${id}`))
    const session = await sessions.create({ id: 's', cwd: '/', title: 'First' })
    await Promise.resolve()
    told.length = 0
    session.append('turn/start', { turn: 1 })
    userMessage(session, 'x')
    session.append('session/title', { title: 'Second', by: 'user' })
    expect(told).toEqual([])
    await Promise.resolve()
    expect(told).toEqual(['changed s Second 4'])
    calls(session, ['a'])
    result(session, 'a', 'A', call(session, 'a'))
    await sessions.delete('s')
    expect(told.slice(1)).toEqual(['changed s Second 7', 'deleted s'])
  })
})
