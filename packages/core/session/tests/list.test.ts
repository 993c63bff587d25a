import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { SessionSummary } from '@deepseek-ai/dsh-session'
import { fixture, startSessions, userMessage } from './support.ts'

const line = (seq: number, type: string, data: object): string =>
  `${JSON.stringify({ seq, time: 1_000_000 + seq, type, data })}\n`
const start = (id: string): string => line(0, 'session/start', { format: 1, id, cwd: `/work/${id}` })
const said = (seq: number, text: string): string =>
  line(seq, 'user/message', {
    turn: 1,
    message: { id: `m${seq}`, content: [{ type: 'text', text }], source: { kind: 'user' } },
  })

describe('the list', () => {
  it('names each session by its title, its first message, or a placeholder, newest first', async () => {
    const { dir, sessions } = await fixture()
    const write = (id: string, ...rest: string[]): void =>
      writeFileSync(join(dir, `${id}.jsonl`), start(id) + rest.join(''))
    write('untitled')
    write('first', said(1, 'what I asked'), said(2, 'and more'))
    write('titled', said(1, 'x'), line(2, 'session/title', { title: 'Chosen', by: 'user' }), said(3, 'y'))
    write('plugin', line(1, 'my-plugin/thing', {}))
    expect(await sessions.list()).toEqual([
      summary('titled', 'Chosen', 4),
      summary('first', 'what I asked', 3),
      summary('plugin', 'New session', 2),
      summary('untitled', 'New session', 1),
    ])
    function summary(id: string, title: string, events: number): SessionSummary {
      const times = { createdAt: 1_000_000, updatedAt: 999_999 + events }
      return { id, title, cwd: `/work/${id}`, ...times, events, interrupted: false }
    }
  })

  it('agrees with what opening tells, also of a title far from either end', async () => {
    const parts = await fixture()
    const session = await parts.sessions.create({ id: 's', cwd: '/work' })
    await parts.sessions.rename('s', 'In the middle')
    for (let n = 0; n < 3000; n++) userMessage(session, 'x'.repeat(300))
    const live = (await parts.sessions.list())[0]
    await session.close()
    expect((await parts.sessions.list())[0]).toEqual(live)
    const fresh = await startSessions(parts.dir)
    expect((await fresh.sessions.list())[0]).toEqual(live)
    expect(live).toMatchObject({ title: 'In the middle', events: 3002 })
  })

  it('reads only what was added, and all again when the file is another', async () => {
    const { dir, sessions } = await fixture()
    const path = join(dir, 's.jsonl')
    const list = async (): Promise<[string, number] | undefined> => {
      const [row] = await sessions.list()
      return row && [row.title, row.events]
    }
    writeFileSync(path, start('s') + said(1, 'one'))
    expect(await list()).toEqual(['one', 2])
    const torn = line(2, 'session/title', { title: 'two', by: 'user' })
    appendFileSync(path, torn.slice(0, 30))
    expect(await list()).toEqual(['one', 2])
    appendFileSync(path, torn.slice(30))
    expect(await list()).toEqual(['two', 3])
    rmSync(path)
    expect(await list()).toBeUndefined()
    writeFileSync(path, start('s'))
    expect(await list()).toEqual(['New session', 1])
  })

  it('survives a damaged cache and a folder that is gone', async () => {
    const { dir, sessions } = await fixture()
    writeFileSync(join(dir, 's.jsonl'), start('s'))
    await sessions.list()
    expect(JSON.parse(readFileSync(join(dir, 'summaries.json'), 'utf8'))).toHaveProperty('sessions.s.events', 1)
    for (const damage of ['{', 'null', '{"version":1,"sessions":{"s":5}}', '{"version":1,"sessions":{"s":{}}}']) {
      writeFileSync(join(dir, 'summaries.json'), damage)
      const fresh = await startSessions(dir)
      expect(await fresh.sessions.list()).toMatchObject([{ id: 's', events: 1 }])
    }
    rmSync(dir, { recursive: true })
    expect(await sessions.list()).toEqual([])
    mkdirSync(dir)
  })

  it('leaves sessions kept in memory out once they are closed', async () => {
    const { sessions } = await fixture()
    const session = await sessions.create({ cwd: '/', ephemeral: true })
    expect(await sessions.list()).toHaveLength(1)
    await session.close()
    expect(await sessions.list()).toEqual([])
  })

  it('of a thousand sessions costs no more than a few times opening their files', async () => {
    const { dir, sessions } = await fixture()
    const body = Array.from({ length: 20 }, (_, n) => said(n + 1, 'some words')).join('')
    const paths = Array.from({ length: 1000 }, (_, n) => join(dir, `s${n}.jsonl`))
    for (const [n, path] of paths.entries()) writeFileSync(path, start(`s${n}`) + body)
    const timed = async (work: () => Promise<void> | void): Promise<number> => {
      const began = performance.now()
      await work()
      return performance.now() - began
    }
    const list = async (): Promise<void> => expect(await sessions.list()).toHaveLength(1000)
    const plain = await timed(() => paths.forEach((path) => void readFileSync(path)))
    const first = await timed(list)
    const again = await timed(list)
    const [p, f, a] = [plain, first, again].map((ms) => `${ms.toFixed(0)} ms`)
    process.stderr.write(`list of 1,000: ${f}, again ${a}, reading the files ${p}\n`)
    expect(first).toBeLessThan(plain * 12)
    expect(again).toBeLessThan(first)
  }, 30_000)
})
