import { contentText } from '@deepseek-ai/dsh-tools'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { LlmRequest } from '@deepseek-ai/dsh-llm'
import type { Agent } from '@deepseek-ai/dsh-agent'
import { callTools, deferred, eventsOfType, nextEvent, say, startHost, textTool, type TestHost } from './harness.ts'

let host: TestHost
beforeEach(async () => {
  host = await startHost()
})
afterEach(() => host.dispose())

const lastTexts = (request: LlmRequest | undefined): string[] =>
  (request?.messages ?? []).flatMap((each) =>
    each.role === 'user' ? each.content.map((block) => contentText([block])) : [],
  )

async function claims(agent: Agent): Promise<[number, string][]> {
  const users = await eventsOfType(agent.session, 'user/message')
  return users.map(({ data }) => [data.turn, contentText(data.message.content)])
}

describe('the inbox', () => {
  it('starts one turn for each queued message', async () => {
    const agent = await host.agents.create({ ephemeral: true })
    agent.send('one')
    agent.send('two')
    await agent.whenIdle()
    expect(await claims(agent)).toEqual([
      [1, 'one'],
      [2, 'two'],
    ])
  })

  it('adds everything that waits for the next step to the turn that starts, oldest first', async () => {
    const agent = await host.agents.create({ ephemeral: true })
    agent.inject({ content: 'context', source: { kind: 'plugin', plugin: 'test' } })
    agent.send('one')
    agent.send('steering', { delivery: 'steer' })
    agent.send('two')
    await agent.whenIdle()
    expect(await claims(agent)).toEqual([
      [1, 'context'],
      [1, 'one'],
      [1, 'steering'],
      [2, 'two'],
    ])
  })

  it('lets steering join the running turn at its next step, after the results of the batch', async () => {
    const entered = deferred()
    const release = deferred()
    host.ctx.tools.register(
      textTool('wait', async () => {
        entered.resolve()
        await release.promise
        return 'waited'
      }),
    )
    host.model.next(callTools({ name: 'wait' }))
    const agent = await host.agents.create({ ephemeral: true })
    agent.send('go')
    await entered.promise
    agent.send('faster', { delivery: 'steer' })
    release.resolve()
    await agent.whenIdle()
    expect(host.model.requests[1]?.messages.map((each) => each.role)).toEqual(['user', 'assistant', 'tool', 'user'])
    expect(await claims(agent)).toEqual([
      [1, 'go'],
      [1, 'faster'],
    ])
  })

  it('extends a turn that would have ended when steering arrives during its last answer', async () => {
    const agent = await host.agents.create({ ephemeral: true })
    host.model.next(() => {
      agent.send('one more thing', { delivery: 'steer' })
      return say('first')
    })
    agent.send('go')
    await agent.whenIdle()
    expect(await eventsOfType(agent.session, 'turn/start')).toHaveLength(1)
    expect(host.model.requests).toHaveLength(2)
  })

  it('wakes for steering and not for injected context', async () => {
    const agent = await host.agents.create({ ephemeral: true })
    agent.inject({ content: 'context', source: { kind: 'plugin', plugin: 'test' } })
    await agent.whenIdle()
    expect(host.model.requests).toHaveLength(0)
    agent.send('steer', { delivery: 'steer' })
    await agent.whenIdle()
    expect(lastTexts(host.model.requests[0])).toEqual(['context', 'steer'])
  })

  it('takes a waiting message back once, and not one that was claimed', async () => {
    const agent = await host.agents.create({ ephemeral: true })
    const one = agent.send('one')
    const two = agent.send('two')
    expect(agent.withdraw(two.id)).toBe(true)
    expect(agent.withdraw(two.id)).toBe(false)
    await agent.whenIdle()
    expect(agent.withdraw(one.id)).toBe(false)
    expect((await eventsOfType(agent.session, 'inbox/removed')).map(({ data }) => data.ids)).toEqual([[two.id]])
    expect(host.model.requests).toHaveLength(1)
  })

  it('starts no turn when the only waking message is withdrawn at once', async () => {
    const agent = await host.agents.create({ ephemeral: true })
    agent.withdraw(agent.send('one').id)
    await agent.whenIdle()
    expect(await eventsOfType(agent.session, 'turn/start')).toEqual([])
    expect(agent.status).toBe('idle')
  })

  it('refuses a message without text', async () => {
    const agent = await host.agents.create({ ephemeral: true })
    expect(() => agent.send('  \n')).toThrow(expect.objectContaining({ code: 'EMPTY_MESSAGE' }))
    expect(agent.session.pending()).toEqual([])
  })
})

describe('a resumed session', () => {
  let dir: string
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'dsh-agent-'))
  })
  afterEach(() => rm(dir, { recursive: true, force: true }))

  it('keeps injected context and numbers turns on', async () => {
    const before = await startHost({}, dir)
    const first = await before.agents.create({ sessionId: 's' })
    first.send('one')
    await first.whenIdle()
    first.inject({ content: 'context', source: { kind: 'plugin', plugin: 'test' } })
    await before.dispose()

    const after = await startHost({}, dir)
    const agent = await after.agents.create({ sessionId: 's' })
    await agent.whenIdle()
    expect(after.model.requests).toHaveLength(0)
    agent.send('two')
    await agent.whenIdle()
    expect(await claims(agent)).toEqual([
      [1, 'one'],
      [2, 'context'],
      [2, 'two'],
    ])
    expect(lastTexts(after.model.requests[0])).toEqual(['one', 'context', 'two'])
    await after.dispose()
  })

  it('goes on with a waiting message after create() has resolved', async () => {
    const before = await startHost({}, dir)
    const session = await before.ctx.sessions.create({ id: 's', cwd: dir })
    const source = { kind: 'user' } as const
    const message = { id: 'm1', content: [{ type: 'text' as const, text: 'waiting' }], source }
    session.append('inbox/added', { message, delivery: 'queue' })
    await before.dispose()

    const after = await startHost({}, dir)
    const agent = await after.agents.create({ sessionId: 's' })
    expect(await eventsOfType(agent.session, 'turn/start')).toEqual([])
    await agent.whenIdle()
    expect(await claims(agent)).toEqual([[1, 'waiting']])
    await after.dispose()
  })

  it('waits for a person when a crash cut the last turn, then closes the call and goes on', async () => {
    const before = await startHost({}, dir)
    const session = await before.ctx.sessions.create({ id: 's', cwd: dir })
    const source = { kind: 'user' } as const
    const text = (id: string) => ({ id, content: [{ type: 'text' as const, text: id }], source })
    session.append('inbox/added', { message: text('m1'), delivery: 'queue' })
    session.append('turn/start', { turn: 1 })
    session.append('user/message', { turn: 1, message: text('m1') })
    session.append('inbox/added', { message: text('m2'), delivery: 'queue' })
    const call = { type: 'tool-call', id: 'c1', name: 'echo', arguments: '{}' } as const
    const model = { provider: 'script', model: 'one' }
    session.append('assistant/message', { turn: 1, step: 1, content: [call], model, durationMs: 1 })
    session.append('tool/call', { turn: 1, step: 1, callId: 'c1', name: 'echo', arguments: '{}' })
    await before.dispose()

    const after = await startHost({}, dir)
    const agent = await after.agents.create({ sessionId: 's' })
    await agent.whenIdle()
    await new Promise((resolve) => setImmediate(resolve))
    await agent.whenIdle()
    expect(after.model.requests).toHaveLength(0)
    agent.send('hello again')
    await agent.whenIdle()
    expect(await claims(agent)).toEqual([
      [1, 'm1'],
      [2, 'm2'],
      [3, 'hello again'],
    ])
    expect(after.model.requests[0]?.messages[2]).toMatchObject({ role: 'tool', callId: 'c1', isError: true })
    await after.dispose()
  })

  it('gives calls ids that the history does not use', async () => {
    const run = async (): Promise<string[]> => {
      const lab = await startHost({}, dir)
      lab.ctx.tools.register(textTool('echo', () => 'echoed'))
      lab.model.next(callTools({ name: 'echo', id: 'call_1' }))
      const agent = await lab.agents.create({ sessionId: 's' })
      agent.send('go')
      await agent.whenIdle()
      const ids = (await eventsOfType(agent.session, 'tool/result')).map(({ data }) => data.callId)
      await lab.dispose()
      return ids
    }
    await run()
    expect(await run()).toEqual(['call_1', 'call_1_2'])
  })
})

it('hears of the claim through the log', async () => {
  const agent = await host.agents.create({ ephemeral: true })
  const claimed = nextEvent(agent.session, 'user/message')
  const sent = agent.send('one')
  expect((await claimed).data.message.id).toBe(sent.id)
})
