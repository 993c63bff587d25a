import { contentText } from '@deepseek-ai/dsh-tools'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { scopeOf } from '@deepseek-ai/cordis'
import Agents from '@deepseek-ai/dsh-agent'
import { callTools, deferred, eventsOfType, hang, say, startHost, textTool, type TestHost } from './harness.ts'

let host: TestHost
beforeEach(async () => {
  host = await startHost()
})
afterEach(() => host.dispose())

describe('ctx.agents', () => {
  it('creates a session when none is named, and finds its agent', async () => {
    const agent = await host.agents.create({ cwd: '/tmp' })
    expect(agent.id).toBe(agent.session.id)
    expect(agent.cwd).toBe('/tmp')
    expect(host.agents.get(agent.id)).toBe(agent)
    expect(host.agents.list()).toEqual([agent])
    expect(scopeOf(agent.ctx)?.key).toBe(agent)
  })

  it('gives two creates of one session the same agent', async () => {
    const [first, second] = await Promise.all([
      host.agents.create({ sessionId: 's' }),
      host.agents.create({ sessionId: 's' }),
    ])
    expect(second).toBe(first)
    expect(await host.agents.create({ sessionId: 's' })).toBe(first)
    expect(host.agents.list()).toHaveLength(1)
  })

  it('opens the session again after its agent is disposed, waiting for a disposal under way', async () => {
    const first = await host.agents.create({ sessionId: 's' })
    first.send('one')
    await first.whenIdle()
    const ending = first.dispose()
    expect(host.agents.get('s')).toBeUndefined()
    const second = await host.agents.create({ sessionId: 's' })
    await ending
    expect(second).not.toBe(first)
    expect(host.agents.get('s')).toBe(second)
    expect(second.session.turn).toBe(1)
  })

  it('starts anew when the session was deleted under its agent', async () => {
    const first = await host.agents.create({ sessionId: 's' })
    first.send('one')
    await first.whenIdle()
    await host.ctx.sessions.delete('s')
    expect(host.agents.get('s')).toBeUndefined()
    expect(() => first.send('late')).toThrow(expect.objectContaining({ code: 'SESSION_CLOSED' }))
    const second = await host.agents.create({ sessionId: 's' })
    second.send('two')
    await second.whenIdle()
    expect(second.session.turn).toBe(1)
    expect(host.agents.list()).toEqual([second])
  })

  it('ends the loop when the session is deleted in the middle of a turn', async () => {
    const agent = await host.agents.create({ sessionId: 's' })
    const asked = deferred()
    const release = deferred()
    host.model.next(async function* () {
      asked.resolve()
      await release.promise
      yield* say('too late')
    })
    agent.send('one')
    agent.send('two')
    await asked.promise
    await host.ctx.sessions.delete('s')
    release.resolve()
    await agent.whenIdle()
    expect(agent.status).toBe('idle')
    await agent.dispose()
  })

  it('tells of creation, status, ends of turns and disposal', async () => {
    const told: string[] = []
    host.ctx.on('agent/created', () => void told.push('created'))
    host.ctx.on('agent/status', ({ status }) => void told.push(status))
    host.ctx.on('agent/turn-end', ({ turn, reason }) => void told.push(`turn ${turn} ${reason.kind}`))
    host.ctx.on('agent/disposed', () => void told.push('disposed'))
    const agent = await host.agents.create({ ephemeral: true })
    agent.send('one')
    agent.send('two')
    await agent.whenIdle()
    await agent.dispose()
    expect(told).toEqual(['created', 'running', 'turn 1 completed', 'turn 2 completed', 'idle', 'disposed'])
  })

  it('tells a listener of one agent scope nothing of another', async () => {
    const mine = await host.agents.create({ ephemeral: true })
    const other = await host.agents.create({ ephemeral: true })
    const told: string[] = []
    mine.ctx.on('agent/turn-end', ({ agent }) => void told.push(agent.id))
    other.send('one')
    await other.whenIdle()
    mine.send('one')
    await mine.whenIdle()
    expect(told).toEqual([mine.id])
  })

  it('refuses a session id that cannot be one', async () => {
    await expect(host.agents.create({ sessionId: '../x' })).rejects.toMatchObject({ code: 'INVALID_SESSION_ID' })
    expect(host.agents.list()).toEqual([])
  })
})

describe('dispose', () => {
  it('ends the running turn, unwinds the scope, closes the session, and is one promise', async () => {
    const entered = deferred()
    const agent = await host.agents.create({ sessionId: 's' })
    const untilAbort = (signal: AbortSignal): Promise<string> =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => resolve('stopped'))
        entered.resolve()
      })
    agent.ctx.tools.register(textTool('wait', (_args, exec) => untilAbort(exec.signal)))
    host.model.next(callTools({ name: 'wait' }))
    agent.send('one')
    agent.send('two')
    await entered.promise
    const ending = agent.dispose()
    expect(agent.dispose()).toBe(ending)
    expect(() => agent.send('late')).toThrow(expect.objectContaining({ code: 'AGENT_DISPOSED' }))
    const source = { kind: 'plugin', plugin: 'test' } as const
    expect(() => agent.inject({ content: 'late', source })).toThrow(expect.objectContaining({ code: 'AGENT_DISPOSED' }))
    await ending
    expect(agent.session.open).toBe(false)
    expect(host.ctx.tools.get('wait', agent)).toBeUndefined()
    const session = await host.ctx.sessions.open('s')
    const ends = await eventsOfType(session, 'turn/end')
    expect(ends.map(({ data }) => data.reason)).toEqual([{ kind: 'aborted', cause: 'disposed' }])
    expect(session.pending().map(({ message }) => contentText(message.content))).toEqual(['two'])
  })

  it('of the plugin ends every agent and refuses new ones', async () => {
    const plugin = [...host.ctx.registry.values()].flatMap((runtime) => [...runtime.fibers])
    const fiber = plugin.find((each) => each.runtime?.callback === Agents)!
    host.model.fallback = hang()
    const all = await Promise.all([1, 2, 3].map(() => host.agents.create({ ephemeral: true })))
    for (const agent of all) agent.send('go')
    const { agents } = host
    await fiber.dispose()
    expect(all.map((agent) => [agent.status, agent.session.open])).toEqual(all.map(() => ['idle', false]))
    await expect(agents.create({ ephemeral: true })).rejects.toMatchObject({ code: 'AGENTS_CLOSED' })
  })
})

describe('the config', () => {
  it.each([
    [{ maxRetries: -1 }, '"maxRetries" must be an integer from 0 to 1000, got -1'],
    [{ maxParallelCalls: 1.5 }, '"maxParallelCalls" must be an integer from 1 to 1000, got 1.5'],
    [{ retryJitter: 'much' }, '"retryJitter" must be a number from 0 to 1, got "much"'],
    [{ retries: 1 }, 'unknown field "retries"; known: maxRetries'],
    [[], 'the agents config must be an object, got []'],
  ])('refuses %j', (config, message) => {
    const result = Agents.Config['~standard'].validate(config)
    expect('issues' in result && result.issues[0]?.message).toContain(message)
  })

  it('has defaults', () => {
    expect(Agents.Config['~standard'].validate(undefined)).toEqual({
      value: {
        maxRetries: 5,
        retryBaseMs: 500,
        retryMaxMs: 10_000,
        retryJitter: 0.25,
        maxParallelCalls: 10,
        maxResultBytes: 1_048_576,
      },
    })
  })
})
