import { contentText } from '@deepseek-ai/dsh-tools'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { TurnEndReason } from '@deepseek-ai/dsh-session'
import type { Agent, AgentLive } from '@deepseek-ai/dsh-agent'
import { callTools, deferred, eventsOfType, fail, hang, nextEvent, startHost, textTool, typesOf } from './harness.ts'
import type { TestHost } from './harness.ts'

let host: TestHost
let agent: Agent
beforeEach(async () => {
  host = await startHost({ retryBaseMs: 3_600_000, retryMaxMs: 3_600_000 })
  agent = await host.agents.create({ ephemeral: true })
})
afterEach(() => host.dispose())

async function reasons(): Promise<TurnEndReason[]> {
  return (await eventsOfType(agent.session, 'turn/end')).map((event) => event.data.reason)
}

/** Resolves when a live update of that kind arrives. */
function nextLive(kind: AgentLive['kind']): Promise<void> {
  const seen = deferred()
  const off = agent.subscribe((live) => {
    if (live.kind !== kind) return
    off()
    seen.resolve()
  })
  return seen.promise
}

describe('cancel', () => {
  it('before the first step keeps the message in the conversation and asks nothing', async () => {
    agent.send('one')
    agent.cancel()
    await agent.whenIdle()
    expect(await reasons()).toEqual([{ kind: 'aborted', cause: 'user' }])
    expect(await eventsOfType(agent.session, 'user/message')).toHaveLength(1)
    expect(host.model.requests).toHaveLength(0)
  })

  it('during agent/pre-step ends the turn even when the listener reacts by throwing', async () => {
    const entered = deferred()
    const off = host.ctx.on('agent/pre-step', async ({ signal }, next) => {
      entered.resolve()
      await new Promise<void>((_, reject) => {
        signal.addEventListener('abort', () => reject(new Error('stopped')))
      })
      return next()
    })
    agent.send('one')
    await entered.promise
    agent.cancel()
    await agent.whenIdle()
    off()
    expect(await reasons()).toEqual([{ kind: 'aborted', cause: 'user' }])
    expect(await eventsOfType(agent.session, 'user/message')).toHaveLength(1)
  })

  it('in the middle of a stream that ignores it keeps what was visible and drops half a call', async () => {
    host.model.next(
      hang(
        { type: 'reasoning', text: 'let me see' },
        { type: 'text', text: 'I will' },
        { type: 'tool-call', index: 0, id: 'c', name: 'echo', argumentsDelta: '{"n"' },
      ),
    )
    agent.send('one')
    await nextLive('tool-call')
    agent.cancel('user')
    await agent.whenIdle()
    const [answer] = await eventsOfType(agent.session, 'assistant/message')
    expect(answer?.data).toMatchObject({
      interrupted: true,
      content: [
        { type: 'reasoning', text: 'let me see' },
        { type: 'text', text: 'I will' },
      ],
    })
    expect(await reasons()).toEqual([{ kind: 'aborted', cause: 'user' }])
    agent.send('two')
    await agent.whenIdle()
    expect(host.model.requests[1]?.messages.map((each) => each.role)).toEqual(['user', 'assistant', 'user'])
  })

  it('before anything is visible leaves no answer', async () => {
    host.model.next(hang())
    agent.send('one')
    await nextLive('attempt')
    agent.cancel()
    await agent.whenIdle()
    expect(await eventsOfType(agent.session, 'assistant/message')).toEqual([])
    expect(await reasons()).toEqual([{ kind: 'aborted', cause: 'user' }])
  })

  it('during the wait before a retry ends the turn at once', async () => {
    host.model.next(fail('SERVER'))
    agent.send('one')
    await nextEvent(agent.session, 'llm/retry')
    agent.cancel()
    await agent.whenIdle()
    expect(await reasons()).toEqual([{ kind: 'aborted', cause: 'user' }])
    expect(host.model.requests).toHaveLength(1)
  })

  it('during a batch waits for what runs and gives each call that was not started its own result', async () => {
    const entered = deferred()
    const release = deferred()
    const wait = async (): Promise<string> => {
      entered.resolve()
      await release.promise
      return 'finished anyway'
    }
    host.ctx.tools.register(textTool('wait', wait))
    host.model.next(callTools({ name: 'wait', id: 'a' }, { name: 'wait', id: 'b' }, { name: 'wait', id: 'c' }))
    agent.send('one')
    await entered.promise
    agent.cancel('first')
    agent.cancel('second')
    release.resolve()
    await agent.whenIdle()
    const results = (await eventsOfType(agent.session, 'tool/result')).map((event) => event.data)
    expect(results.map((each) => [each.callId, each.error?.code, each.callSeq !== undefined])).toEqual([
      ['a', 'ABORTED', true],
      ['b', 'ABORTED_BEFORE_DISPATCH', false],
      ['c', 'ABORTED_BEFORE_DISPATCH', false],
    ])
    expect(await reasons()).toEqual([{ kind: 'aborted', cause: 'first' }])
    expect(host.model.requests).toHaveLength(1)
  })

  it('while idle has no effect on later work', async () => {
    agent.cancel()
    agent.send('one')
    await agent.whenIdle()
    expect(await reasons()).toEqual([{ kind: 'completed' }])
  })

  it('leaves waiting messages to the next turn, or removes them when asked to', async () => {
    host.model.next(hang(), hang())
    agent.send('one')
    agent.send('two')
    await nextLive('attempt')
    agent.send('three')
    agent.cancel()
    await nextEvent(agent.session, 'turn/start')
    await nextLive('attempt')
    agent.cancel('user', { clearInbox: true })
    await agent.whenIdle()
    const users = await eventsOfType(agent.session, 'user/message')
    expect(users.map(({ data }) => contentText(data.message.content))).toEqual(['one', 'two'])
    expect(agent.session.pending()).toEqual([])
    expect((await typesOf(agent.session)).filter((type) => type === 'inbox/removed')).toHaveLength(1)
  })

  it('carries its cause to the tool', async () => {
    const entered = deferred()
    let reason: unknown
    const listen = (signal: AbortSignal): Promise<string> =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => {
          reason = signal.reason
          resolve('stopped')
        })
        entered.resolve()
      })
    host.ctx.tools.register(textTool('wait', (_args, exec) => listen(exec.signal)))
    host.model.next(callTools({ name: 'wait' }))
    agent.send('one')
    await entered.promise
    agent.cancel('quota')
    await agent.whenIdle()
    expect(reason).toMatchObject({ code: 'ABORTED', message: expect.stringContaining('quota') })
  })
})
