import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHost, createScope, disposeAndJoin, type Context } from '@deepseek-ai/cordis'
import { Sessions, type Session, type SessionEvent } from '@deepseek-ai/dsh-session'
import type { ToolAgent } from '@deepseek-ai/dsh-tools'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { UserQuestions, type PendingQuestion, type QuestionRequest } from '@deepseek-ai/dsh-user-questions'

interface Fixture {
  readonly ctx: Context
  readonly questions: UserQuestions
  readonly session: Session
  readonly agent: ToolAgent
  readonly dir: string
  readonly log: string[]
  readonly stop: () => Promise<void>
}

async function start({ reachable = true } = {}): Promise<Fixture> {
  const dir = mkdtempSync(join(tmpdir(), 'dsh-questions-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const log: string[] = []
  const host = createHost({ write: (line) => log.push(line), logLevel: 'debug' })
  onTestFinished(() => host.dispose())
  await host.ctx.plugin(Sessions, { dir, fsync: 'never' })
  const plugin = await host.ctx.plugin(UserQuestions)
  const session = await host.ctx.sessions.create({ id: 's1', cwd: dir })
  const questions = host.ctx.userQuestions
  if (reachable) questions.registerAnswerer({ canAnswer: () => true })
  const agent: ToolAgent = { id: 's1', cwd: dir, inject() {} }
  return { ctx: host.ctx, questions, session, agent, dir, log, stop: () => disposeAndJoin(plugin) }
}

const request = (agent: ToolAgent | undefined, more: Partial<QuestionRequest> = {}): QuestionRequest => ({
  agent,
  origin: { kind: 'terminal', terminalId: 't1' },
  question: 'Password:',
  secret: false,
  signal: new AbortController().signal,
  ...more,
})

/** The question that is up; fails the test when there is none. */
function standing(questions: UserQuestions, id = 's1', index = 0): PendingQuestion {
  const found = questions.pending(id).at(index)
  if (found === undefined) throw new Error('no question is up')
  return found
}

async function logged(session: Session): Promise<SessionEvent[]> {
  return (await session.read({ from: 0 })).filter(({ type }) => type.startsWith('question/'))
}

describe('a question', () => {
  it('stands with what led to it until it is answered, and both are logged', async () => {
    const { questions, agent, session } = await start()
    const told = vi.fn()
    questions.subscribe(told)
    const outcome = questions.ask(request(agent, { question: 'Name?', context: 'npm init' }))
    const pending = standing(questions)
    expect(pending).toMatchObject({ sessionId: 's1', question: 'Name?', context: 'npm init', secret: false })
    expect(JSON.parse(JSON.stringify(pending))).toEqual(pending)
    questions.answer(pending.id, { text: 'Ada' })
    expect(await outcome).toEqual({ kind: 'answered', text: 'Ada', secret: false })
    expect(questions.pending('s1')).toEqual([])
    expect(told.mock.calls).toEqual([['s1'], ['s1']])
    expect(await logged(session)).toMatchObject([
      { type: 'question/asked', data: { id: pending.id, question: 'Name?', secret: false } },
      { type: 'question/settled', data: { id: pending.id, outcome: 'answered', text: 'Ada' } },
    ])
  })

  it('takes one of its options and nothing else', async () => {
    const { questions, agent } = await start()
    const outcome = questions.ask(request(agent, { options: ['yes', 'no'] }))
    const { id } = standing(questions)
    const wrong = expect.objectContaining({
      code: 'QUESTION_INVALID',
      message: expect.not.stringContaining('maybe') as string,
    })
    expect(() => questions.answer(id, { text: 'maybe' })).toThrow(wrong as Error)
    expect(() => questions.answer(id, { text: 7 as never })).toThrow(
      expect.objectContaining({ code: 'QUESTION_INVALID' }) as Error,
    )
    questions.answer(id, { text: 'no' })
    expect(await outcome).toMatchObject({ text: 'no' })
  })

  it('is dismissed by a person who does not want to answer', async () => {
    const { questions, agent, session } = await start()
    const outcome = questions.ask(request(agent))
    questions.dismiss(standing(questions).id)
    expect(await outcome).toEqual({ kind: 'dismissed' })
    expect((await logged(session)).at(-1)?.data).toMatchObject({ outcome: 'dismissed' })
  })

  it('is not there to be answered or dismissed twice', async () => {
    const { questions, agent } = await start()
    void questions.ask(request(agent))
    const { id } = standing(questions)
    questions.answer(id, { text: 'x' })
    const gone = expect.objectContaining({ code: 'QUESTION_NOT_FOUND' }) as Error
    expect(() => questions.answer(id, { text: 'x' })).toThrow(gone)
    expect(() => questions.dismiss(id)).toThrow(gone)
  })

  it('is independent of another one at the same time', async () => {
    const { questions, agent } = await start()
    const first = questions.ask(request(agent, { question: 'a' }))
    const second = questions.ask(request(agent, { question: 'b' }))
    const a = standing(questions, 's1', 0)
    const b = standing(questions, 's1', 1)
    questions.answer(b.id, { text: 'B' })
    expect(await second).toMatchObject({ text: 'B' })
    questions.answer(a.id, { text: 'A' })
    expect(await first).toMatchObject({ text: 'A' })
  })

  it('is asked and answered without a session too', async () => {
    const { questions, session } = await start()
    const outcome = questions.ask(request(undefined))
    questions.answer(standing(questions, '').id, { text: 'x' })
    expect(await outcome).toMatchObject({ text: 'x' })
    expect(await logged(session)).toEqual([])
  })
})

describe('a question that nobody answers', () => {
  it('is unavailable at once when nobody can be reached', async () => {
    const { questions, agent, session } = await start({ reachable: false })
    expect(await questions.ask(request(agent))).toEqual({ kind: 'unavailable' })
    questions.registerAnswerer({ canAnswer: () => false })
    expect(await questions.ask(request(agent))).toEqual({ kind: 'unavailable' })
    expect((await logged(session)).at(-1)?.data).toMatchObject({ outcome: 'unavailable' })
  })

  it('is unavailable when the last who could answer goes away', async () => {
    const { questions, agent } = await start({ reachable: false })
    const leave = questions.registerAnswerer({ canAnswer: () => true })
    const outcome = questions.ask(request(agent))
    leave()
    expect(await outcome).toEqual({ kind: 'unavailable' })
  })

  it('is cancelled by its asker, and a late answer finds nothing', async () => {
    const { questions, agent } = await start()
    const controller = new AbortController()
    const outcome = questions.ask(request(agent, { signal: controller.signal }))
    const { id } = standing(questions)
    controller.abort()
    expect(() => questions.answer(id, { text: 'x' })).toThrow('does not stand any more')
    expect(await outcome).toEqual({ kind: 'cancelled' })
    expect(await questions.ask(request(agent, { signal: AbortSignal.abort() }))).toEqual({ kind: 'cancelled' })
  })

  it.each<[string, (fixture: Fixture) => Promise<void>]>([
    ['the session is closed', ({ session }) => session.close()],
    ['the session is deleted', ({ ctx }) => ctx.sessions.delete('s1')],
    ['the plugin goes', ({ stop }) => stop()],
  ])('is cancelled when %s', async (_what, end) => {
    const fixture = await start()
    const outcome = fixture.questions.ask(request(fixture.agent))
    await end(fixture)
    expect(await outcome).toEqual({ kind: 'cancelled' })
  })

  it('is cancelled when the agent ends', async () => {
    const { ctx, questions, agent } = await start()
    const scope = createScope(ctx, agent)
    const outcome = questions.ask(request(agent))
    await scope.dispose()
    expect(await outcome).toEqual({ kind: 'cancelled' })
  })

  it('is unavailable once the plugin has gone, and when it is no question', async () => {
    const { questions, agent, stop } = await start()
    expect(await questions.ask(request(agent, { options: [1n] as never }))).toEqual({ kind: 'unavailable' })
    await stop()
    expect(await questions.ask(request(agent))).toEqual({ kind: 'unavailable' })
  })
})

describe('a secret', () => {
  const SECRET = 'hunter2-correct-horse'

  it.each<[string, boolean, { secret?: boolean }]>([
    ['asked for as one', true, {}],
    ['that the person marks as one', false, { secret: true }],
    ['that cannot be unmarked', true, { secret: false }],
  ])('%s reaches the asker alone', async (_what, secret, mark) => {
    const { ctx, questions, agent, session, dir, log } = await start()
    const seen: unknown[] = []
    ctx.on(
      'internal/dispatch' as never,
      ((...args: unknown[]) => void seen.push(args.slice(0, 2), dump(args[2]))) as never,
    )
    session.subscribe((event) => seen.push(event))
    questions.subscribe((id) => {
      seen.push(questions.pending(id))
      throw new Error('a subscriber that fails')
    })
    const outcome = questions.ask(request(agent, { secret }))
    const { id } = standing(questions)
    questions.answer(id, { text: SECRET, ...mark })
    expect(await outcome).toEqual({ kind: 'answered', text: SECRET, secret: true })
    const said = messageOf(() => questions.answer(id, { text: SECRET }))
    await ctx.sessions.list()
    await session.flush()
    const file = readFileSync(join(dir, 's1.jsonl'), 'utf8')
    expect(file).toContain('"question/settled"')
    expect(seen.length).toBeGreaterThan(2)
    for (const place of [file, JSON.stringify(seen), log.join('\n'), said, JSON.stringify(session.messages())]) {
      expect(place).not.toContain(SECRET)
    }
    expect((await logged(session)).at(-1)?.data).toEqual({ id, outcome: 'answered' })
  })

  it('that is none of the options is not repeated by the error', async () => {
    const { questions, agent } = await start()
    void questions.ask(request(agent, { secret: true, options: ['a'] }))
    expect(messageOf(() => questions.answer(standing(questions).id, { text: SECRET }))).not.toContain(SECRET)
  })

  it('is not kept when the log cannot be written', async () => {
    const { questions, agent, session, log } = await start()
    const outcome = questions.ask(request(agent, { secret: true }))
    const { id } = standing(questions)
    vi.spyOn(session, 'append').mockImplementation(() => {
      throw new Error('disk full')
    })
    questions.answer(id, { text: SECRET })
    expect(await outcome).toMatchObject({ text: SECRET })
    expect(log.join('\n')).toContain('disk full')
    expect(log.join('\n')).not.toContain(SECRET)
  })
})

/** Everything that an event carries, as text, cycles left out. */
function dump(value: unknown): string {
  const known = new Set<unknown>()
  return JSON.stringify(value, (_key, each: unknown) => {
    if (typeof each !== 'object' || each === null) return typeof each === 'bigint' ? String(each) : each
    if (known.has(each) || known.size > 1000) return undefined
    known.add(each)
    return each
  })
}

function messageOf(run: () => void): string {
  try {
    run()
  } catch (error) {
    return (error as Error).message
  }
  throw new Error('expected a failure')
}
