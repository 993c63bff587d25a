// What ends jobs: their owner, the service; and what does not: the plugin that started them.
import { createScope, disposeAndJoin } from '@deepseek-ai/cordis'
import { describe, expect, it, vi } from 'vitest'
import { FakeWork, owner, startFake, startJobs } from './support.ts'

describe('an owner whose scope ends', () => {
  it('has its jobs cancelled and waited for, and can start none any more', async () => {
    const { ctx, jobs, start } = await startJobs()
    const mine = owner('mine')
    const scope = createScope(ctx, mine)
    const other = start(owner('other'))
    const { work } = start(mine)
    let released: () => void = () => {}
    work.onCancel = () => void (released = () => work.finish({ status: 'killed', detail: 'signal: SIGTERM' }))
    let disposed = false
    const disposal = scope.dispose().then(() => (disposed = true))
    await vi.waitFor(() => expect(work.cancels).toEqual(['the agent has ended']))
    expect(() => start(mine)).toThrow(expect.objectContaining({ code: 'JOBS_DISPOSED' }))
    expect(disposed).toBe(false)
    released()
    await disposal
    expect(jobs.list(mine)).toEqual([])
    expect(() => start(mine)).toThrow(expect.objectContaining({ code: 'JOBS_DISPOSED' }))
    expect(other.work.cancels).toEqual([])
  })

  it('does not wait for ever: a job that does not stop is named in the log, and whoever waits for it is let go', async () => {
    const { ctx, jobs, start, log } = await startJobs({ stopTimeoutMs: 20 })
    const mine = owner('mine')
    const scope = createScope(ctx, mine)
    const { id, work } = start(mine, 'sleep 1000')
    work.onCancel = () => {}
    const waiting = jobs.wait(mine, id, { timeoutMs: 60_000 })
    await scope.dispose()
    expect((await waiting).status).toBe('stopping')
    expect(log.join('\n')).toContain(
      'job test-1 (sleep 1000) of agent mine did not stop within 20 ms and may still run',
    )
  })
})

describe('the service', () => {
  it('cancels and awaits every job when it ends, and leaves nothing on scopes that go on', async () => {
    const { ctx, jobs, start, dispose } = await startJobs()
    const mine = owner('mine')
    const scope = createScope(ctx, mine)
    const works = [start(mine).work, start().work]
    const before = scope.ctx.fiber.getEffects().length
    expect(before).toBeGreaterThan(0)
    await dispose()
    expect(works.map(({ cancels }) => cancels.length)).toEqual([1, 1])
    expect(() => startFake(jobs)).toThrow(expect.objectContaining({ code: 'JOBS_DISPOSED' }))
    const leave = jobs.promotable({ callId: 'c', owner: mine, label: 'x', promote: () => 'bash-1' })
    leave()
  })
})

describe('a plugin that started a job', () => {
  it('may be reloaded; the work goes on', async () => {
    const { ctx, jobs } = await startJobs()
    const works: FakeWork[] = []
    const producer = {
      name: 'producer',
      inject: ['jobs'],
      apply(child: typeof ctx) {
        const work = new FakeWork()
        works.push(work)
        child.jobs.start({ kind: 'test', label: 'x', run: () => work })
      },
    }
    const first = ctx.plugin(producer)
    await first
    await disposeAndJoin(first.ctx.fiber)
    await ctx.plugin(producer)
    expect(works[0]?.cancels).toEqual([])
    expect(jobs.list(undefined).map(({ id, status }) => [id, status])).toEqual([
      ['test-1', 'running'],
      ['test-2', 'running'],
    ])
  })
})
