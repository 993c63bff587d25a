// What an agent gets of its jobs through the registry.
import type { Context } from '@deepseek-ai/cordis'
import SystemPrompt from '@deepseek-ai/dsh-system-prompt'
import ToolRegistry, { contentText, type ToolExecutionResult } from '@deepseek-ai/dsh-tools'
import { describe, expect, it } from 'vitest'
import { EXIT_0, ended, owner, startJobs, type Fixture } from '../../jobs/tests/support.ts'
import * as toolJobs from '../src/index.ts'

const agent = owner('agent')

interface Calls extends Fixture {
  readonly call: (name: string, args?: unknown, signal?: AbortSignal) => Promise<ToolExecutionResult>
}

async function start(config: Partial<toolJobs.ToolJobsConfig> = {}): Promise<Calls> {
  const fixture = await startJobs()
  const ctx: Context = fixture.ctx
  await ctx.plugin(SystemPrompt)
  await ctx.plugin(ToolRegistry)
  await ctx.plugin(toolJobs, config)
  const { tools } = ctx
  const never = new AbortController().signal
  return {
    ...fixture,
    call: (name, args = {}, signal = never) => tools.execute({ callId: 'c', name, arguments: args, signal, agent }),
  }
}

const text = (result: ToolExecutionResult): string => contentText(result.content)

describe('job_output', () => {
  it('gives each piece once, and always ends with the status', async () => {
    const { call, jobs, start: startJob } = await start()
    const { id, work } = startJob(agent, 'npm run build')
    expect(text(await call('job_output', { job_id: id }))).toBe('(no new output)\n[status: running]')
    work.print('built\n', true)
    const piece = await call('job_output', { job_id: id })
    expect(text(piece)).toBe(
      'built\n[some output was dropped from memory; full output: /spill/whole]\n[status: running]',
    )
    expect(piece).toMatchObject({
      value: { id, status: 'running', output: { text: 'built\n', lossy: true, files: ['/spill/whole'] } },
    })
    work.finish({ ...EXIT_0, survivors: [{ pid: process.pid, command: 'server' }] })
    await ended(jobs, agent, id)
    const last = await call('job_output', { job_id: id })
    expect(text(last)).toBe(
      `(no new output)\n[still running: ${process.pid} server]\n[status: completed, exit code: 0]`,
    )
    expect(jobs.get(agent, id)?.facts.acknowledged).toBe(true)
  })

  it('waits as long as it may, and a cancelled wait neither kills the job nor takes its output', async () => {
    const { call, jobs, start: startJob } = await start({ waitTimeoutMs: 10, maxWaitTimeoutMs: 30 })
    const { id, work } = startJob(agent)
    expect(text(await call('job_output', { job_id: id, wait: true }))).toContain('[status: running]')
    expect(text(await call('job_output', { job_id: id, wait: true, timeout_ms: 600_000 }))).toContain('running')
    const stop = new AbortController()
    const waiting = call('job_output', { job_id: id, wait: true, until: 'end' }, stop.signal)
    work.print('precious')
    stop.abort()
    expect(await waiting).toMatchObject({ isError: true, error: { code: 'ABORTED' } })
    expect(work.cancels).toEqual([])
    expect(jobs.read(agent, id).output.text).toBe('precious')
  })

  it('is a terminal card under the label of the job, with the output alone', async () => {
    const { ctx, call, start: startJob } = await start()
    const { id, work } = startJob(agent, 'npm run build')
    work.print('built\n')
    const { content, isError, meta } = await call('job_output', { job_id: id })
    const definition = ctx.tools.get('job_output')
    const args = { job_id: id } as never
    expect(definition?.presentCall?.(args)).toMatchObject({ card: 'terminal', title: id })
    expect(definition?.presentResult?.(args, { content, isError, ...(meta === undefined ? {} : { meta }) })).toEqual({
      card: 'terminal',
      title: 'npm run build',
      output: 'built\n',
      notes: ['running'],
    })
  })

  it('fails by JOB_NOT_FOUND for jobs of others, naming its own', async () => {
    const { call, start: startJob } = await start()
    startJob(owner('other'))
    startJob(agent)
    const result = await call('job_output', { job_id: 'test-7' })
    expect(result).toMatchObject({ isError: true, error: { code: 'JOB_NOT_FOUND' } })
    expect(text(result)).toContain('There are: test-1.')
  })
})

describe('job_list and job_kill', () => {
  it('list a line a job, and stop one at once', async () => {
    const { call, jobs, start: startJob } = await start()
    expect(text(await call('job_list'))).toBe('No background jobs.')
    const { id, work } = startJob(agent, 'npm run dev')
    work.onCancel = () => {}
    const killed = await call('job_kill', { job_id: id, reason: 'done' })
    expect(killed).toMatchObject({ value: { id, status: 'stopping', stopped: true } })
    expect(text(killed).split('\n').at(-1)).toBe('[status: stopping]')
    expect(work.cancels).toEqual(['done'])
    work.finish({ status: 'killed', detail: 'signal: SIGTERM' })
    await ended(jobs, agent, id)
    expect(text(await call('job_list'))).toBe('test-1 [test] killed, signal: SIGTERM — npm run dev')
    expect(text(await call('job_kill', { job_id: id }))).toBe(
      'test-1 had ended before.\n[status: killed, signal: SIGTERM]',
    )
  })
})

it('tells models how jobs are told of, where there is a prompt', async () => {
  const { ctx } = await start()
  expect(ctx.systemPrompt.assemble().system).toContain('You get a message when it ends')
  expect(ctx.tools.executionMode({ name: 'job_list', arguments: {} }).kind).toBe('parallel')
  expect(ctx.tools.executionMode({ name: 'job_output', arguments: { job_id: 'x' } }).kind).toBe('parallel')
  expect(ctx.tools.executionMode({ name: 'job_kill', arguments: { job_id: 'x' } }).kind).toBe('exclusive')
})
