// The job tools against the contract of tools.
import type { Context } from '@deepseek-ai/cordis'
import { testTool, type ToolCheckOptions } from '@deepseek-ai/dsh-testkit'
import { describe, it } from 'vitest'
import Jobs, { type JobOwner } from '@deepseek-ai/dsh-jobs'
import { FakeWork } from '../../jobs/tests/support.ts'
import { jobKillTool, jobListTool, jobOutputTool } from '../src/index.ts'

const owner: JobOwner = { id: 'checker', inject: () => {} }

const world: Pick<ToolCheckOptions, 'plugins' | 'setup'> = {
  async plugins(ctx: Context) {
    await ctx.plugin(Jobs)
    const works = [new FakeWork(), new FakeWork()]
    for (const work of works) ctx.jobs.start({ kind: 'test', label: 'npm run dev', owner, run: () => work })
    works[0]?.finish({ status: 'completed', detail: 'exit code: 0' })
    await ctx.jobs.wait(owner, 'test-1', { timeoutMs: 1000, until: 'end' })
  },
  setup: () => ({ agent: owner }),
}

testTool({ describe, it }, (ctx) => jobOutputTool(ctx.jobs, { waitTimeoutMs: 20, maxWaitTimeoutMs: 60_000 }), {
  ...world,
  title: 'job_output',
  args: [{ job_id: 'test-1' }, { job_id: 'test-1', wait: true }, { job_id: 'test-2', wait: true, timeout_ms: 5 }],
  slowArgs: [{ job_id: 'test-2', wait: true, timeout_ms: 60_000 }],
  arbitraries: (fc) => ({ job_id: fc.constantFrom('test-1', 'test-2', 'nothing'), timeout_ms: fc.nat(10) }),
})

testTool({ describe, it }, (ctx) => jobListTool(ctx.jobs), { ...world, title: 'job_list', args: [{}] })

testTool({ describe, it }, (ctx) => jobKillTool(ctx.jobs), {
  ...world,
  title: 'job_kill',
  args: [{ job_id: 'test-1' }, { job_id: 'test-2', reason: 'done with it' }],
  arbitraries: (fc) => ({ job_id: fc.constantFrom('test-1', 'test-2', 'nothing') }),
})
