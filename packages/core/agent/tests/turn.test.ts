import { contentText } from '@deepseek-ai/dsh-tools'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { LlmMessage } from '@deepseek-ai/dsh-llm'
import {
  ScriptedModel,
  callTools,
  eventsOf,
  eventsOfType,
  say,
  startHost,
  textTool,
  typesOf,
  type TestHost,
} from './harness.ts'

let host: TestHost
beforeEach(async () => {
  host = await startHost()
})
afterEach(() => host.dispose())

describe('a turn', () => {
  it('logs each boundary in order and ends idle', async () => {
    host.ctx.tools.register(textTool('echo', ({ n }) => `echo ${String(n)}`))
    host.model.next(callTools({ name: 'echo', args: { n: 7 } }), say('it said 7'))
    const agent = await host.agents.create({ ephemeral: true })
    agent.send('go')
    expect(agent.status).toBe('running')
    await agent.whenIdle()
    expect(agent.status).toBe('idle')
    expect(await typesOf(agent.session)).toEqual([
      'session/start',
      'inbox/added',
      'turn/start',
      'user/message',
      'request/header',
      'assistant/message',
      'tool/call',
      'tool/result',
      'assistant/message',
      'turn/end',
    ])
    const [result] = await eventsOfType(agent.session, 'tool/result')
    const [call] = await eventsOfType(agent.session, 'tool/call')
    expect(call?.data).toMatchObject({ turn: 1, step: 1, callId: 'call-0', name: 'echo', arguments: '{"n":7}' })
    expect(result?.data).toMatchObject({ callSeq: call?.seq, isError: false, content: [{ text: 'echo 7' }] })
    expect((await eventsOfType(agent.session, 'turn/end'))[0]?.data).toEqual({ turn: 1, reason: { kind: 'completed' } })
  })

  it('sends requests that can be rebuilt from the log alone', async () => {
    host.ctx.systemPrompt.section({ name: 'who', order: 0, text: 'You are a test.' })
    host.ctx.tools.register(textTool('echo', () => 'echoed'))
    host.model.next(callTools({ name: 'echo' }), say('one'), say('two'))
    const agent = await host.agents.create({ ephemeral: true })
    agent.send('first')
    await agent.whenIdle()
    agent.send('second')
    await agent.whenIdle()
    const events = await eventsOf(agent.session)
    const answers = events.filter((event) => event.type === 'assistant/message')
    expect(host.model.requests).toHaveLength(answers.length)
    for (const [index, answer] of answers.entries()) {
      const messages: LlmMessage[] = []
      let header: object | undefined
      for (const event of events.slice(0, answer.seq)) {
        if (event.type === 'request/header') header = event.data
        if (event.type === 'user/message') messages.push({ role: 'user', content: event.data.message.content })
        if (event.type === 'assistant/message') messages.push({ role: 'assistant', content: event.data.content })
        if (event.type !== 'tool/result') continue
        const { callId, content, isError } = event.data
        messages.push({ role: 'tool', callId, content, isError })
      }
      const request = host.model.requests[index]
      expect(request?.messages).toEqual(messages)
      expect(request).toMatchObject(header ?? {})
    }
  })

  it('logs the header once while nothing changes and again when tools do', async () => {
    const agent = await host.agents.create({ ephemeral: true })
    agent.send('one')
    await agent.whenIdle()
    agent.send('two')
    await agent.whenIdle()
    expect(await eventsOfType(agent.session, 'request/header')).toHaveLength(1)
    host.ctx.tools.register(textTool('late', () => ''))
    agent.send('three')
    await agent.whenIdle()
    const headers = await eventsOfType(agent.session, 'request/header')
    expect(headers).toHaveLength(2)
    expect(headers[1]?.data.tools.map((tool) => tool.name)).toEqual(['late'])
  })

  it('logs the header again when a provider changes its own schemas in place', async () => {
    const schema = { name: 'own', description: 'before', parameters: { type: 'object' as const } }
    const schemas = [schema]
    host.ctx.systemPrompt.tools(() => schemas)
    const agent = await host.agents.create({ ephemeral: true })
    agent.send('one')
    await agent.whenIdle()
    schema.description = 'after'
    agent.send('two')
    await agent.whenIdle()
    const headers = await eventsOfType(agent.session, 'request/header')
    expect(headers.map((header) => header.data.tools[0]?.description)).toEqual(['before', 'after'])
    expect(host.model.requests[1]?.tools[0]?.description).toBe('after')
  })

  it('logs changing context when its text changes, before the message of the person', async () => {
    let date = 'Monday'
    host.ctx.systemPrompt.context({ name: 'date', order: 0, text: () => `It is ${date}.` })
    const agent = await host.agents.create({ ephemeral: true })
    const sendAndWait = async (text: string): Promise<void> => {
      agent.send(text)
      await agent.whenIdle()
    }
    await sendAndWait('one')
    await sendAndWait('two')
    date = 'Tuesday'
    await sendAndWait('three')
    const users = await eventsOfType(agent.session, 'user/message')
    expect(users.map(({ data }) => data.message.source.kind)).toEqual(['plugin', 'user', 'user', 'plugin', 'user'])
    expect(contentText(users[0]?.data.message.content ?? [])).toContain('It is Monday.')
    expect(contentText(users[3]?.data.message.content ?? [])).toContain('It is Tuesday.')
  })

  it('ends at max-tokens without running the calls of the cut answer', async () => {
    let ran = 0
    host.ctx.tools.register(textTool('echo', () => `${++ran}`))
    const cut = callTools({ name: 'echo' }).slice(0, -1)
    host.model.next([{ type: 'text', text: 'part' }, ...cut, { type: 'finish', reason: 'max-tokens' }])
    const agent = await host.agents.create({ ephemeral: true })
    agent.send('go')
    await agent.whenIdle()
    expect(ran).toBe(0)
    const [answer] = await eventsOfType(agent.session, 'assistant/message')
    expect(answer?.data.content).toEqual([{ type: 'text', text: 'part' }])
    expect((await eventsOfType(agent.session, 'turn/end'))[0]?.data.reason).toEqual({ kind: 'max-tokens' })
  })

  it('ends with an error when the prompt cannot be made, and works again afterwards', async () => {
    const broken = host.ctx.systemPrompt.section({
      name: 'broken',
      order: 0,
      text() {
        throw new Error('no prompt today')
      },
    })
    const agent = await host.agents.create({ ephemeral: true })
    const lost = agent.send('one')
    await agent.whenIdle()
    const [end] = await eventsOfType(agent.session, 'turn/end')
    expect(end?.data.reason).toMatchObject({ kind: 'error', error: { message: expect.stringContaining('no prompt') } })
    expect((await eventsOfType(agent.session, 'user/message'))[0]?.data.message.id).toBe(lost.id)
    broken()
    agent.send('two')
    await agent.whenIdle()
    expect((await eventsOfType(agent.session, 'turn/end'))[1]?.data.reason).toEqual({ kind: 'completed' })
  })

  it('keeps turns balanced when listeners and subscribers throw', async () => {
    const boom = (): never => {
      throw new Error('listener')
    }
    host.ctx.on('agent/created', boom)
    host.ctx.on('agent/status', boom)
    host.ctx.on('agent/turn-end', boom)
    host.ctx.on('agent/disposed', boom)
    const ends: number[] = []
    host.ctx.on('agent/turn-end', ({ turn }) => void ends.push(turn))
    host.ctx.tools.register(textTool('echo', () => 'echoed'))
    host.model.next(callTools({ name: 'echo' }))
    const agent = await host.agents.create({ ephemeral: true })
    agent.session.subscribe(boom)
    agent.subscribe(boom)
    agent.send('one')
    agent.send('two')
    await agent.whenIdle()
    const types = (await typesOf(agent.session)).filter((type) => type.startsWith('turn/'))
    expect(types).toEqual(['turn/start', 'turn/end', 'turn/start', 'turn/end'])
    expect(ends).toEqual([1, 2])
  })
})

describe('agent/pre-step', () => {
  it('rejects the claimed input and leaves other messages waiting', async () => {
    const off = host.ctx.on('agent/pre-step', ({ turn }, next) =>
      turn === 1 ? { kind: 'reject', reason: 'policy' } : next(),
    )
    const agent = await host.agents.create({ ephemeral: true })
    const first = agent.send('one')
    const second = agent.send('two')
    await agent.whenIdle()
    off()
    expect((await eventsOfType(agent.session, 'inbox/removed')).map(({ data }) => data.ids)).toEqual([[first.id]])
    expect((await eventsOfType(agent.session, 'user/message')).map(({ data }) => data.message.id)).toEqual([second.id])
    const ends = (await eventsOfType(agent.session, 'turn/end')).map(({ data }) => data.reason)
    expect(ends).toEqual([{ kind: 'aborted', cause: 'policy' }, { kind: 'completed' }])
  })

  it('holds what it looks at: claimed input can be neither withdrawn nor cleared', async () => {
    const agent = await host.agents.create({ ephemeral: true })
    const withdrawn: boolean[] = []
    host.ctx.on('agent/pre-step', async ({ messages }, next) => {
      await Promise.resolve()
      withdrawn.push(...messages.map((each) => agent.withdraw(each.id)))
      agent.cancel('stop', { clearInbox: true })
      return next()
    })
    const claimed = agent.send('one')
    const waiting = agent.send('two')
    await agent.whenIdle()
    expect(withdrawn).toEqual([false])
    const users = await eventsOfType(agent.session, 'user/message')
    expect(users.map(({ data }) => data.message.id)).toEqual([claimed.id])
    expect((await eventsOfType(agent.session, 'inbox/removed')).map(({ data }) => data.ids)).toEqual([[waiting.id]])
  })

  it('may change what enters', async () => {
    host.ctx.on('agent/pre-step', async (_event, next) => {
      const decision = await next()
      if (decision.kind === 'reject') return decision
      const messages = decision.messages.map((each) => ({
        ...each,
        content: [{ type: 'text' as const, text: 'polite' }],
      }))
      return { kind: 'enter', messages }
    })
    const agent = await host.agents.create({ ephemeral: true })
    agent.send('rude')
    await agent.whenIdle()
    expect(host.model.requests[0]?.messages).toEqual([{ role: 'user', content: [{ type: 'text', text: 'polite' }] }])
    expect(agent.session.pending()).toEqual([])
  })

  it('ends the turn with an error for an answer that is no decision, and keeps the message', async () => {
    host.ctx.on('agent/pre-step', () => 'yes' as never)
    const agent = await host.agents.create({ ephemeral: true })
    agent.send('one')
    await agent.whenIdle()
    const [end] = await eventsOfType(agent.session, 'turn/end')
    expect(end?.data.reason).toMatchObject({ kind: 'error', error: { code: 'INVALID_DECISION' } })
    expect(await eventsOfType(agent.session, 'user/message')).toHaveLength(1)
  })
})

describe('the model of a request', () => {
  it('is the choice at create, then the one set later, both logged', async () => {
    const agent = await host.agents.create({ ephemeral: true, model: 'script/two' })
    agent.send('one')
    await agent.whenIdle()
    agent.setModel({ provider: 'script', model: 'one' })
    expect(agent.model).toEqual({ provider: 'script', model: 'one' })
    agent.send('two')
    await agent.whenIdle()
    expect(host.model.requests.map((request) => request.model)).toEqual(['two', 'one'])
    expect((await eventsOfType(agent.session, 'session/model')).map(({ data }) => data.model)).toEqual(['two', 'one'])
  })

  it('is refused at create when nobody offers it', async () => {
    await expect(host.agents.create({ ephemeral: true, model: 'nope' })).rejects.toMatchObject({
      code: 'UNKNOWN_MODEL',
    })
    expect(host.agents.list()).toEqual([])
  })

  it('ends the turn with a remedy when its provider is gone', async () => {
    const remove = host.ctx.llm.register(new ScriptedModel('other'))
    const agent = await host.agents.create({ ephemeral: true, model: 'other/x' })
    remove()
    agent.send('one')
    await agent.whenIdle()
    const [end] = await eventsOfType(agent.session, 'turn/end')
    expect(end?.data.reason).toMatchObject({
      kind: 'error',
      error: { code: 'NO_ADAPTER', message: expect.stringContaining('Choose another model') },
    })
    expect(agent.model).toEqual({ provider: 'other', model: 'x' })
  })

  it('may be replaced by a listener of agent/request', async () => {
    host.ctx.on('agent/request', async (_event, next) => ({ ...(await next()), maxTokens: 9 }))
    const agent = await host.agents.create({ ephemeral: true })
    agent.send('one')
    await agent.whenIdle()
    expect(host.model.requests[0]).toMatchObject({ model: 'one', maxTokens: 9 })
  })
})
