import { describe, expect, it, vi } from 'vitest'
import type { ToolApprover } from '../src/index.ts'
import { bodyTool, failureOf, harness, type Harness } from './fixtures.ts'

async function asking(reason?: string): Promise<Harness & { body: ReturnType<typeof vi.fn> }> {
  const made = await harness()
  const body = vi.fn(() => 1)
  made.tools.register(bodyTool('t', body))
  made.ctx.on('tools/pre-execute', () => (reason === undefined ? { kind: 'ask' } : { kind: 'ask', reason }))
  return { ...made, body }
}

describe('an ask with somebody to answer it', () => {
  it('runs the call that was allowed, and tells the approver the call and the reason', async () => {
    const { tools, call } = await asking('writes files')
    const approver = vi.fn<ToolApprover>(async () => ({ kind: 'allowed' }))
    tools.provideApproval(approver)
    expect(await call('t', { a: 1 })).toMatchObject({ isError: false, value: 1 })
    expect(approver).toHaveBeenCalledWith(expect.objectContaining({ name: 't', arguments: { a: 1 } }), 'writes files')
  })

  it.each([
    ['rejected', 'APPROVAL_REJECTED', 'the user rejected tool "t": use the staging key'],
    ['cancelled', 'APPROVAL_CANCELLED', 'approval for tool "t" was cancelled: use the staging key'],
    ['timed-out', 'APPROVAL_TIMED_OUT', 'nobody answered in time whether tool "t" may run: use the staging key'],
    ['unavailable', 'APPROVAL_UNAVAILABLE', 'tool "t" requires approval, but no approval channel is available (why)'],
  ] as const)(
    'refuses what was %s with a code of its own, which post-execute policy sees',
    async (kind, code, text) => {
      const { ctx, tools, call, body } = await asking('why')
      tools.provideApproval(async () => ({ kind, message: 'use the staging key' }))
      const post = vi.fn((_exec, _result, next: () => unknown) => next())
      ctx.on('tools/post-execute', post as never)
      expect(failureOf(await call('t'))).toMatchObject({ code, message: text })
      expect(post).toHaveBeenCalledOnce()
      expect(body).not.toHaveBeenCalled()
    },
  )

  it('still runs the guards after an approval', async () => {
    const { tools, call } = await asking()
    tools.provideApproval(async () => ({ kind: 'allowed' }))
    tools.guard(() => 'never')
    expect(failureOf(await call('t')).code).toBe('GUARD_DENIED')
  })

  it.each<[string, () => unknown]>([
    ['throws', () => Promise.reject(new Error('broken'))],
    [
      'throws at once',
      () => {
        throw new Error('broken')
      },
    ],
    ['answers nothing', async () => undefined],
    ['answers true', async () => true],
    ['answers an unknown kind', async () => ({ kind: 'maybe' })],
    ['answers allow, which is no outcome', async () => ({ kind: 'allow' })],
  ])('refuses the call when the approver %s', async (_what, approver) => {
    const { tools, call, body } = await asking()
    tools.provideApproval(approver as ToolApprover)
    expect(failureOf(await call('t')).code).toBe('POLICY_FAILED')
    expect(body).not.toHaveBeenCalled()
  })

  it('does not wait for an approver that ignores the cancellation, and its late yes has no effect', async () => {
    const { tools, call, body } = await asking()
    let allow = (): void => {}
    const asked = new Promise<void>((told) => {
      tools.provideApproval(
        () =>
          new Promise((resolve) => {
            allow = () => resolve({ kind: 'allowed' })
            told()
          }),
      )
    })
    const controller = new AbortController()
    const running = call('t', {}, { signal: controller.signal })
    await asked
    controller.abort()
    expect(failureOf(await running).code).toBe('ABORTED_BEFORE_DISPATCH')
    allow()
    await Promise.resolve()
    expect(body).not.toHaveBeenCalled()
  })

  it('does not run what is allowed in the moment of its cancellation', async () => {
    const { tools, call } = await asking()
    const controller = new AbortController()
    tools.provideApproval(async () => {
      controller.abort()
      return { kind: 'allowed' }
    })
    expect(failureOf(await call('t', {}, { signal: controller.signal })).code).toBe('ABORTED_BEFORE_DISPATCH')
  })
})

describe('who answers', () => {
  it('is the latest provider, and the one before when that goes', async () => {
    const { ctx, tools, call } = await asking()
    const first = tools.provideApproval(async () => ({ kind: 'rejected', message: 'first' }))
    const plugin = await ctx.plugin({
      inject: ['tools'],
      apply: (child: typeof ctx) => void child.tools.provideApproval(async () => ({ kind: 'allowed' })),
    })
    expect((await call('t')).isError).toBe(false)
    await plugin.dispose()
    expect(failureOf(await call('t')).message).toContain('first')
    first()
    expect(failureOf(await call('t')).code).toBe('APPROVAL_UNAVAILABLE')
  })

  it('must be a function', async () => {
    const { tools } = await asking()
    expect(() => tools.provideApproval(undefined as never)).toThrow('needs a function (got undefined)')
  })
})
