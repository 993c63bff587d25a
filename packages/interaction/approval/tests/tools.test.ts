import { describe, expect, it, vi } from 'vitest'
import { ToolRegistry, type ToolExecutionResult } from '@deepseek-ai/dsh-tools'
import { Approval } from '@deepseek-ai/dsh-approval'
import { logged, nth, standing, startApproval, type Fixture } from './support.ts'

async function withTools(
  config = {},
): Promise<
  Fixture & { call: (name: string, args: object, signal?: AbortSignal) => Promise<ToolExecutionResult>; ran: string[] }
> {
  const fixture = await startApproval(config)
  const { ctx, agent } = fixture
  await ctx.plugin(ToolRegistry)
  const ran: string[] = []
  for (const name of ['bash', 'pwsh', 'send']) {
    ctx.tools.register({
      name,
      description: 'Does something.',
      parameters: { type: 'object' },
      output: { schema: {}, render: () => [{ type: 'text', text: 'done' }] },
      execute: (args: unknown) => {
        ran.push(JSON.stringify(args))
        return null
      },
    })
  }
  ctx.on('tools/pre-execute', () => ({ kind: 'ask', reason: 'the gate asks' }))
  const call = (name: string, args: object, signal = new AbortController().signal): Promise<ToolExecutionResult> =>
    ctx.tools.execute({ callId: 'c1', name, arguments: args, signal, agent })
  return { ...fixture, call, ran }
}

const code = (result: ToolExecutionResult): string => (result.isError ? result.error.code : 'none')

describe('what policy asks', () => {
  it('is put as the command line where the call has one', async () => {
    const { approval, call, ran, dir } = await withTools()
    const result = call('bash', { command: 'make test', workdir: 'sub' })
    const pending = await standing(approval)
    expect(pending).toMatchObject({
      toolName: 'bash',
      reason: 'the gate asks',
      subject: { kind: 'command', command: 'make test', dialect: 'bash', workdir: `${dir}/sub` },
      suggestedPrefix: ['make', 'test'],
    })
    expect(ran).toEqual([])
    approval.answer(pending.id, { kind: 'allow', grant: { kind: 'once' } })
    expect((await result).isError).toBe(false)
    expect(ran).toEqual(['{"command":"make test","workdir":"sub"}'])
  })

  it('is put as PowerShell for pwsh, and as arguments for other tools', async () => {
    const { approval, call, dir } = await withTools()
    const controller = new AbortController()
    const results = [call('pwsh', { command: 'ls' }, controller.signal), call('send', { to: 'Ada' }, controller.signal)]
    await standing(approval, 's1', 2)
    expect(approval.pending('s1').map(({ subject }) => subject)).toEqual([
      { kind: 'command', command: 'ls', dialect: 'pwsh', workdir: dir },
      { kind: 'arguments', arguments: { to: 'Ada' } },
    ])
    controller.abort()
    expect((await Promise.all(results)).map(code)).toEqual(['ABORTED_BEFORE_DISPATCH', 'ABORTED_BEFORE_DISPATCH'])
  })

  it('fails with a code of its own for each outcome, and no body runs', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const { ctx, approval, call, ran, session } = await withTools({ timeoutMs: 1000 })
      const rejected = call('send', {})
      approval.answer((await standing(approval)).id, { kind: 'reject', feedback: 'ask Bob first' })
      const late = call('send', {})
      await standing(approval)
      vi.advanceTimersByTime(1000)
      expect([code(await rejected), code(await late)]).toEqual(['APPROVAL_REJECTED', 'APPROVAL_TIMED_OUT'])
      expect(await rejected).toMatchObject({ error: { message: 'the user rejected tool "send": ask Bob first' } })
      const ended = call('send', {})
      await standing(approval)
      await session.close()
      expect(code(await ended)).toBe('APPROVAL_CANCELLED')
      expect(ran).toEqual([])
      expect(ctx.tools.diagnostics().abandoned).toEqual([])
    } finally {
      vi.useRealTimers()
    }
  })

  it('is refused at once where nobody is, also when the service comes later or goes', async () => {
    const { ctx, call, stop } = await withTools({ policy: 'never' })
    expect(code(await call('send', {}))).toBe('APPROVAL_UNAVAILABLE')
    await stop()
    expect(code(await call('send', {}))).toBe('APPROVAL_UNAVAILABLE')
    await ctx.plugin(Approval, {})
    ctx.approval.registerAnswerer({ canAnswer: () => true })
    const result = call('send', {})
    ctx.approval.answer((await standing(ctx.approval)).id, { kind: 'allow', grant: { kind: 'once' } })
    expect(code(await result)).toBe('none')
  })

  it('keeps the others of a step apart: one denied, one allowed', async () => {
    const { approval, call, session } = await withTools()
    const results = [call('send', { n: 1 }), call('send', { n: 2 })]
    await standing(approval, 's1', 2)
    const [first, second] = [0, 1].map((index) => nth(approval.pending('s1'), index).id)
    approval.answer(first ?? '', { kind: 'reject' })
    approval.answer(second ?? '', { kind: 'allow', grant: { kind: 'once' } })
    expect((await Promise.all(results)).map(code)).toEqual(['APPROVAL_REJECTED', 'none'])
    expect((await logged(session)).filter(({ type }) => type === 'approval/decided')).toHaveLength(2)
  })
})
