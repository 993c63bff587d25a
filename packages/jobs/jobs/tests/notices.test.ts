// How agents learn of ends: one message for several, wakes that are counted, nothing for what is known; and what a session that is
// opened again is told.
import { setTimeout as delay } from 'node:timers/promises'
import { rmSync } from 'node:fs'
import type { Agent } from '@deepseek-ai/dsh-agent'
import type { SessionEventMap, SessionMessage } from '@deepseek-ai/dsh-session'
import { contentText } from '@deepseek-ai/dsh-tools'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { deferred, eventsOfType, say, startHost, type TestHost } from '../../../core/agent/tests/harness.ts'
import Jobs, { type JobsConfig } from '@deepseek-ai/dsh-jobs'
import { EXIT_0, ended, owner, startFake, startJobs } from './support.ts'

async function start(config: Partial<JobsConfig> = {}, at?: string): Promise<TestHost & { jobs: Jobs }> {
  const host = await startHost({}, at)
  onTestFinished(() => host.dispose())
  await host.ctx.plugin(Jobs, config)
  return { ...host, jobs: host.ctx.jobs }
}

/** What plugins have put into the conversation, oldest first. */
async function told(agent: Agent): Promise<string[]> {
  const events = await eventsOfType(agent.session, 'user/message')
  return events.flatMap(({ data: { message } }) => (isOurs(message) ? [contentText(message.content)] : []))
}

const isOurs = ({ source }: SessionMessage): boolean => source.kind === 'plugin' && source.plugin === 'jobs'
const waiting = (agent: Agent): string[] =>
  agent.session.pending().flatMap(({ message }) => (isOurs(message) ? [contentText(message.content)] : []))

/** Ends a job of the agent and waits until its notice is out. */
async function endOne(jobs: Jobs, agent: Agent): Promise<string> {
  const { id, work } = startFake(jobs, agent)
  work.finish(EXIT_0)
  await vi.waitFor(() => expect(jobs.get(agent, id)?.facts.reported).toBe(true))
  return id
}

describe('an idle agent', () => {
  it('is woken once for ends that come together, each on a line with its survivors', async () => {
    const { agents, jobs, model } = await start()
    const agent = await agents.create({ ephemeral: true })
    const one = startFake(jobs, agent, 'sleep 1\n[exit code: 0]')
    const two = startFake(jobs, agent, 'server &')
    one.work.finish(EXIT_0)
    two.work.finish({
      status: 'failed',
      detail: 'no such file',
      survivors: [{ pid: process.pid, command: 'node server' }],
    })
    await vi.waitFor(() => expect(model.requests).toHaveLength(1))
    await agent.whenIdle()
    expect(await told(agent)).toEqual([
      `background job test-1 (test: sleep 1 [exit code: 0]) finished [status: completed, exit code: 0]. Read its output with job_output.
background job test-2 (test: server &) finished [status: failed, no such file]. [still running: ${process.pid} node server] Read its output with job_output.`,
    ])
    expect(jobs.get(agent, one.id)?.facts).toMatchObject({ reported: true, acknowledged: false })
    expect(model.requests).toHaveLength(1)
  })

  it('is woken so many times in a row; later ends wait as context until a person writes', async () => {
    const { agents, jobs, model } = await start({ maxConsecutiveWakes: 2 })
    const agent = await agents.create({ ephemeral: true })
    for (let round = 0; round < 4; round++) {
      await endOne(jobs, agent)
      await agent.whenIdle()
    }
    expect(model.requests).toHaveLength(2)
    expect(waiting(agent)).toHaveLength(2)
    agent.send('go on')
    await agent.whenIdle()
    expect(waiting(agent)).toEqual([])
    expect(model.requests).toHaveLength(3)
    await endOne(jobs, agent)
    await agent.whenIdle()
    expect(model.requests).toHaveLength(4)
  })

  it('is not woken when completions are quiet', async () => {
    const { agents, jobs, model } = await start({ completionDelivery: 'quiet' })
    const agent = await agents.create({ ephemeral: true })
    await endOne(jobs, agent)
    expect(waiting(agent)).toHaveLength(1)
    expect(model.requests).toEqual([])
  })
})

describe('a busy agent', () => {
  it('gets the notice with its next request; when there is none, it is woken for it', async () => {
    const { agents, jobs, model } = await start()
    const agent = await agents.create({ ephemeral: true })
    const asked = deferred()
    const answer = deferred()
    model.next(async function* () {
      asked.resolve()
      await answer.promise
      yield* say('done')
    })
    agent.send('work')
    await asked.promise
    await endOne(jobs, agent)
    expect(waiting(agent)).toHaveLength(1)
    expect(model.requests).toHaveLength(1)
    answer.resolve()
    await agent.whenIdle()
    expect(model.requests).toHaveLength(2)
    expect(await told(agent)).toHaveLength(1)
    expect(waiting(agent)).toEqual([])
  })

  it('is not told what it reads before the next request', async () => {
    const { agents, jobs, model } = await start()
    const agent = await agents.create({ ephemeral: true })
    const asked = deferred()
    const answer = deferred()
    model.next(async function* () {
      asked.resolve()
      await answer.promise
      yield* say('done')
    })
    agent.send('work')
    await asked.promise
    const id = await endOne(jobs, agent)
    jobs.read(agent, id)
    expect(waiting(agent)).toEqual([])
    answer.resolve()
    await agent.whenIdle()
    expect(model.requests).toHaveLength(1)
  })
})

describe('nothing is sent', () => {
  it('for what the owner has read or killed; a kill by a person, or one that leaves processes, is told', async () => {
    const { jobs } = await startJobs()
    const mine = owner()
    const [read, killed, byPerson, left] = [0, 1, 2, 3].map(() => startFake(jobs, mine))
    read?.work.finish(EXIT_0)
    await ended(jobs, mine, 'test-1')
    jobs.read(mine, 'test-1')
    if (left !== undefined) {
      const survivors = [{ pid: process.pid, command: 'daemon' }]
      left.work.onCancel = () => left.work.finish({ status: 'killed', detail: 'signal: SIGKILL', survivors })
    }
    jobs.kill(mine, killed?.id ?? '')
    jobs.kill(mine, byPerson?.id ?? '', 'too loud', 'person')
    jobs.kill(mine, left?.id ?? '')
    await vi.waitFor(() => expect(mine.injected).toHaveLength(1))
    const [message] = mine.injected
    expect(message?.source).toEqual({ kind: 'plugin', plugin: 'jobs' })
    expect((message?.content as string | undefined)?.split('\n')).toEqual([
      'background job test-3 (test: work) finished [status: killed, signal: SIGTERM]. Read its output with job_output.',
      expect.stringContaining(
        'background job test-4 (test: work) finished [status: killed, signal: SIGKILL]. [still running: ',
      ),
    ])
    await delay(100) // longer than ends are gathered
    expect(mine.injected).toHaveLength(1)
  })
})

describe('the session log', () => {
  it('holds starts, ends and what the model knows', async () => {
    const { agents, jobs } = await start()
    const agent = await agents.create({ ephemeral: true })
    const work = startFake(jobs, agent, 'npm test').work
    work.finish(EXIT_0)
    await ended(jobs, agent, 'test-1')
    jobs.read(agent, 'test-1')
    const one = async (type: keyof SessionEventMap): Promise<unknown> =>
      (await eventsOfType(agent.session, type)).map(({ data }) => data)
    const job = { id: 'test-1', kind: 'test', label: 'npm test' }
    expect(await one('job/started')).toEqual([job])
    expect(await one('job/ended')).toEqual([{ ...job, status: 'completed', detail: 'exit code: 0' }])
    expect(await one('job/told')).toEqual([{ ids: ['test-1'], by: 'read' }])
  })

  it('lets a session that is opened again tell its model, once, of what ended with the host and of what was lost', async () => {
    const first = await startHost()
    onTestFinished(() => rmSync(first.dir, { recursive: true, force: true }))
    await first.ctx.plugin(Jobs)
    const agent = await first.agents.create({ cwd: first.dir })
    // As a host leaves it that was killed: started, and no end.
    agent.session.append('job/started', { id: 'bash-4', kind: 'bash', label: 'make world' })
    startFake(first.ctx.jobs, agent, 'npm run dev')
    const done = startFake(first.ctx.jobs, agent)
    done.work.finish(EXIT_0)
    await ended(first.ctx.jobs, agent, done.id)
    first.ctx.jobs.read(agent, done.id)
    await first.agents.get(agent.id)?.dispose()
    const { agents, jobs, model } = await start({}, first.dir)
    const again = await agents.create({ sessionId: agent.id })
    again.send('what now?')
    await again.whenIdle()
    expect(model.requests).toHaveLength(1)
    expect(JSON.stringify(model.requests[0]?.messages)).toContain('make world')
    expect(await told(again)).toEqual([
      `background job bash-4 (bash: make world) was lost: the host ended while it ran, and how it ended is not known [status: lost]. Its output can no longer be read.
background job test-1 (test: npm run dev) ended before this session was opened again [status: killed, signal: SIGTERM]. Its output can no longer be read.`,
    ])
    expect(() => jobs.read(again, 'bash-4')).toThrow('It ended with an earlier run of this session')
    expect(startFake(jobs, again).id).toBe('test-3')
    await again.dispose()
    const third = await agents.create({ sessionId: agent.id })
    third.send('and now?')
    await third.whenIdle()
    expect((await told(third)).filter((text) => text.includes('make world'))).toHaveLength(1)
    await first.ctx.fiber.dispose()
  })
})
