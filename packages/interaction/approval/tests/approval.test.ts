import { describe, expect, it, vi } from 'vitest'
import { ApprovalError, approvalConfig, type ApprovalAnswer } from '@deepseek-ai/dsh-approval'
import { agentOf, bash, logged, nth, question, scopeFor, standing, startApproval } from './support.ts'

const once: ApprovalAnswer = { kind: 'allow', grant: { kind: 'once' } }
const types = (events: readonly { type: string }[]): string[] => events.map(({ type }) => type)

describe('a question', () => {
  it('shows the real command, tells who listens, and is gone once it is allowed', async () => {
    const { approval, agent, session } = await startApproval()
    const told = vi.fn()
    approval.subscribe(told)
    const outcome = approval.request(question(agent, bash('rm -rf build')))
    const pending = await standing(approval)
    expect(pending).toMatchObject({
      sessionId: 's1',
      callId: 'c1',
      toolName: 'bash',
      subject: { kind: 'command', command: 'rm -rf build', dialect: 'bash', workdir: '/w' },
      reason: 'policy asks',
      suggestedPrefix: ['rm', '-rf', 'build'],
    })
    expect(JSON.parse(JSON.stringify(pending))).toEqual(pending)
    approval.answer(pending.id, once)
    expect(await outcome).toEqual({ kind: 'allowed', by: 'person', grant: { kind: 'once' } })
    expect(approval.pending('s1')).toEqual([])
    expect(told.mock.calls).toEqual([['s1'], ['s1']])
    expect(await logged(session)).toMatchObject([
      { type: 'approval/asked', data: { id: pending.id, subject: { command: 'rm -rf build' } } },
      { type: 'approval/decided', data: { id: pending.id, callId: 'c1', by: 'user', outcome: { kind: 'allowed' } } },
    ])
  })

  it('shows what was asked although the asker changes its objects afterwards', async () => {
    const { approval, agent } = await startApproval()
    const args = { path: '/etc/hosts' }
    void approval.request(question(agent, { kind: 'arguments', arguments: args }))
    args.path = '/tmp/harmless'
    expect((await standing(approval)).subject).toEqual({ kind: 'arguments', arguments: { path: '/etc/hosts' } })
  })

  it('carries the feedback of a person who says no', async () => {
    const { approval, agent, session } = await startApproval()
    const outcome = approval.request(question(agent))
    approval.answer((await standing(approval)).id, { kind: 'reject', feedback: 'use the staging key' })
    expect(await outcome).toEqual({ kind: 'rejected', feedback: 'use the staging key' })
    expect((await logged(session)).at(-1)?.data).toMatchObject({ by: 'user', outcome: { kind: 'rejected' } })
  })

  it('is independent of another one at the same time', async () => {
    const { approval, agent } = await startApproval()
    const first = approval.request(question(agent, bash('a'), { callId: 'c1' }))
    const second = approval.request(question(agent, bash('b'), { callId: 'c2' }))
    await standing(approval, 's1', 2)
    const a = nth(approval.pending('s1'), 0)
    const b = nth(approval.pending('s1'), 1)
    approval.answer(b.id, { kind: 'allow', grant: { kind: 'session' } })
    expect(await second).toMatchObject({ kind: 'allowed' })
    expect(approval.pending('s1')).toEqual([a])
    approval.answer(a.id, { kind: 'reject' })
    expect(await first).toEqual({ kind: 'rejected' })
  })

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['a word', 'yes'],
    ['an unknown kind', { kind: 'maybe' }],
    ['an unknown grant', { kind: 'allow', grant: { kind: 'forever' } }],
    ['no grant', { kind: 'allow' }],
    ['feedback that is no text', { kind: 'reject', feedback: 7 }],
  ])('stands on after %s as an answer', async (_what, answer) => {
    const { approval, agent } = await startApproval()
    void approval.request(question(agent))
    const { id } = await standing(approval)
    expect(() => approval.answer(id, answer as ApprovalAnswer)).toThrow(
      expect.objectContaining({ code: 'APPROVAL_INVALID' }) as Error,
    )
    expect(approval.pending('s1')).toHaveLength(1)
  })

  it('is not there to be answered twice', async () => {
    const { approval, agent } = await startApproval()
    void approval.request(question(agent))
    const { id } = await standing(approval)
    approval.answer(id, once)
    expect(() => approval.answer(id, once)).toThrow(ApprovalError)
    expect(() => approval.answer(id, once)).toThrow(expect.objectContaining({ code: 'APPROVAL_NOT_FOUND' }) as Error)
  })
})

describe('nobody there', () => {
  it('is said at once and logged, whether nobody registered or nobody can be reached', async () => {
    const { approval, agent, session } = await startApproval({}, { reachable: false })
    expect(await approval.request(question(agent))).toEqual({ kind: 'unavailable' })
    approval.registerAnswerer({ canAnswer: (id) => id === 'another' })
    expect(await approval.request(question(agent))).toEqual({ kind: 'unavailable' })
    expect(types(await logged(session))).toEqual([
      'approval/asked',
      'approval/decided',
      'approval/asked',
      'approval/decided',
    ])
  })

  it('is what a policy of never says, without a look at who is there', async () => {
    const { approval, agent } = await startApproval({ policy: 'never' }, { reachable: false })
    const canAnswer = vi.fn(() => true)
    approval.registerAnswerer({ canAnswer })
    expect(await approval.request(question(agent))).toEqual({ kind: 'unavailable' })
    expect(canAnswer).not.toHaveBeenCalled()
  })

  it('is what an answerer that fails comes to', async () => {
    const { approval, agent, log } = await startApproval({}, { reachable: false })
    approval.registerAnswerer({
      canAnswer() {
        throw new Error('lost')
      },
    })
    expect(await approval.request(question(agent))).toEqual({ kind: 'unavailable' })
    expect(log.join()).toContain('an answerer failed: lost')
  })

  it('ends a standing question when the last who could answer goes away', async () => {
    const { approval, agent } = await startApproval({}, { reachable: false })
    const leave = approval.registerAnswerer({ canAnswer: () => true })
    const outcome = approval.request(question(agent))
    await standing(approval)
    leave()
    expect(await outcome).toEqual({ kind: 'unavailable' })
  })

  it('is what a question that cannot be shown comes to', async () => {
    const { approval, agent, log } = await startApproval()
    const subject = { kind: 'arguments', arguments: { big: 1n } as never } as const
    expect(await approval.request(question(agent, subject))).toEqual({ kind: 'unavailable' })
    expect(log.join()).toContain('could not be put')
  })
})

describe('a question that ends without an answer', () => {
  it('is cancelled with its call, and a late yes has no effect', async () => {
    const { approval, agent, session } = await startApproval()
    const controller = new AbortController()
    const outcome = approval.request(question(agent, bash('a'), { signal: controller.signal }))
    const { id } = await standing(approval)
    controller.abort()
    expect(() => approval.answer(id, { kind: 'allow', grant: { kind: 'session' } })).toThrow(
      expect.objectContaining({ code: 'APPROVAL_NOT_FOUND' }) as Error,
    )
    expect(await outcome).toEqual({ kind: 'cancelled' })
    expect(await approval.grants('s1')).toEqual([])
    expect(types(await logged(session))).toEqual(['approval/asked', 'approval/decided'])
  })

  it('is never put when the call was cancelled before', async () => {
    const { approval, agent } = await startApproval()
    const told = vi.fn()
    approval.subscribe(told)
    const outcome = await approval.request(question(agent, bash('a'), { signal: AbortSignal.abort() }))
    expect(outcome).toEqual({ kind: 'cancelled' })
    expect(told).not.toHaveBeenCalled()
  })

  it('times out after the limit, which the outcome names', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const { approval, agent, session } = await startApproval({ timeoutMs: 60_000 })
      const outcome = approval.request(question(agent))
      await standing(approval)
      vi.advanceTimersByTime(59_999)
      expect(approval.pending('s1')).toHaveLength(1)
      vi.advanceTimersByTime(1)
      expect(await outcome).toEqual({ kind: 'timed-out', afterMs: 60_000 })
      expect(vi.getTimerCount()).toBe(0)
      expect((await logged(session)).at(-1)?.data).toMatchObject({ outcome: { kind: 'timed-out', afterMs: 60_000 } })
    } finally {
      vi.useRealTimers()
    }
  })

  it('is cancelled when the session is closed', async () => {
    const { approval, agent, session } = await startApproval()
    const outcome = approval.request(question(agent))
    await standing(approval)
    await session.close()
    expect(await outcome).toEqual({ kind: 'cancelled' })
    expect(approval.pending('s1')).toEqual([])
  })

  it('is cancelled when the session is deleted', async () => {
    const { ctx, approval, agent } = await startApproval()
    const outcome = approval.request(question(agent))
    await standing(approval)
    await ctx.sessions.delete('s1')
    expect(await outcome).toEqual({ kind: 'cancelled' })
  })

  it('is cancelled when the agent ends, logged', async () => {
    const { ctx, approval, agent, session } = await startApproval()
    const scope = scopeFor(ctx, agent)
    const outcome = approval.request(question(agent))
    await standing(approval)
    await scope.dispose()
    expect(await outcome).toEqual({ kind: 'cancelled' })
    expect(types(await logged(session))).toEqual(['approval/asked', 'approval/decided'])
  })

  it('is cancelled when the plugin goes, and the log says so', async () => {
    const { approval, agent, session, stop } = await startApproval()
    const outcome = approval.request(question(agent))
    await standing(approval)
    await stop()
    expect(await outcome).toEqual({ kind: 'cancelled' })
    expect((await logged(session)).at(-1)?.data).toMatchObject({ outcome: { kind: 'cancelled' } })
  })

  it('ends, logged, when the whole host ends', async () => {
    const { approval, agent, dir, dispose } = await startApproval()
    const outcome = approval.request(question(agent))
    await standing(approval)
    await dispose()
    expect(['cancelled', 'unavailable']).toContain((await outcome).kind)
    const again = await startApproval({}, { dir })
    expect((await logged(again.session)).map(({ type }) => type)).toEqual(['approval/asked', 'approval/decided'])
  })

  it('answers unavailable once the service has gone', async () => {
    const { approval, agent, dispose } = await startApproval()
    await dispose()
    expect(await approval.request(question(agent))).toEqual({ kind: 'unavailable' })
  })
})

describe('without a session', () => {
  it('asks and answers all the same', async () => {
    const { approval, session } = await startApproval()
    const stranger = { ...agentOf(session), id: 'nowhere' }
    for (const [agent, id] of [
      [stranger, 'nowhere'],
      [undefined, ''],
    ] as const) {
      const outcome = approval.request(question(agent))
      approval.answer((await standing(approval, id)).id, once)
      expect(await outcome).toMatchObject({ kind: 'allowed' })
    }
    expect(await logged(session)).toEqual([])
  })
})

describe('the configuration', () => {
  it.each<[unknown, string]>([
    [{ policy: 'always' }, 'approval: policy is "always"; expected "ask" or "never"'],
    [{ timeoutMs: -1 }, 'approval: timeoutMs is -1; expected a whole number'],
    [{ timeout: 1 }, 'approval: unknown field "timeout"; known are policy, timeoutMs'],
  ])('refuses %j with the field, what arrived and what was wanted', (input, message) => {
    const result = approvalConfig['~standard'].validate(input)
    expect('issues' in result && result.issues[0]?.message).toContain(message)
  })
})
