import { contentText } from '@deepseek-ai/dsh-tools'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { LlmChunk } from '@deepseek-ai/dsh-llm'
import type { SessionEventMap } from '@deepseek-ai/dsh-session'
import type { Agent, AgentsConfig } from '@deepseek-ai/dsh-agent'
import {
  callTools,
  deferred,
  eventsOf,
  eventsOfType,
  isWellFormed,
  say,
  startHost,
  textTool,
  type TestHost,
} from './harness.ts'

let host: TestHost
beforeEach(async () => {
  host = await startHost()
})
afterEach(() => host.dispose())

async function restart(config: Partial<AgentsConfig>): Promise<void> {
  await host.dispose()
  host = await startHost(config)
}

async function runOnce(chunks: readonly LlmChunk[]): Promise<Agent> {
  host.model.next(chunks)
  const agent = await host.agents.create({ ephemeral: true })
  agent.send('go')
  await agent.whenIdle()
  return agent
}

async function resultsOf(agent: Agent): Promise<SessionEventMap['tool/result'][]> {
  return (await eventsOfType(agent.session, 'tool/result')).map((event) => event.data)
}

describe('the calls of one answer', () => {
  it('run as three groups when safe, exclusive, safe, and are logged in the model order', async () => {
    const trace: string[] = []
    let running = 0
    const traced = (name: string, parallel: boolean) =>
      textTool(
        name,
        async ({ n }) => {
          running += 1
          trace.push(`${name}${String(n)} with ${running - 1} others`)
          // The first of a pair settles last.
          for (let tick = 0; tick < 20 - 5 * Number(n); tick++) await Promise.resolve()
          running -= 1
          return `${name}${String(n)}`
        },
        { parallel },
      )
    host.ctx.tools.register(traced('safe', true))
    host.ctx.tools.register(traced('solo', false))
    const call = (name: string, n: number) => ({ name, args: { n }, id: `${name}${n}` })
    const agent = await runOnce(
      callTools(call('safe', 0), call('safe', 1), call('solo', 0), call('safe', 2), call('safe', 3)),
    )
    expect(trace).toEqual([
      'safe0 with 0 others',
      'safe1 with 1 others',
      'solo0 with 0 others',
      'safe2 with 0 others',
      'safe3 with 1 others',
    ])
    const results = await resultsOf(agent)
    expect(results.map((each) => each.callId)).toEqual(['safe0', 'safe1', 'solo0', 'safe2', 'safe3'])
    const calls = await eventsOfType(agent.session, 'tool/call')
    expect(results.map((each) => each.callSeq)).toEqual(calls.map((each) => each.seq))
  })

  it('overlap up to the configured limit', async () => {
    await restart({ maxParallelCalls: 2 })
    let running = 0
    let peak = 0
    const body = async (): Promise<string> => {
      peak = Math.max(peak, ++running)
      await new Promise((resolve) => setImmediate(resolve))
      running -= 1
      return 'done'
    }
    host.ctx.tools.register(textTool('safe', body, { parallel: true }))
    const agent = await runOnce(callTools(...[1, 2, 3, 4, 5].map((n) => ({ name: 'safe', id: `c${n}` }))))
    expect(peak).toBe(2)
    expect(await resultsOf(agent)).toHaveLength(5)
  })

  it('are classified anew when the registry changes during the batch', async () => {
    const trace: string[] = []
    let remove = (): void => {}
    host.ctx.tools.register(
      textTool('swap', () => {
        remove()
        host.ctx.tools.register(textTool('later', () => (trace.push('exclusive'), 'new')))
        return 'swapped'
      }),
    )
    remove = host.ctx.tools.register(textTool('later', () => (trace.push('parallel'), 'old'), { parallel: true }))
    const agent = await runOnce(callTools({ name: 'swap' }, { name: 'later' }, { name: 'later', id: 'third' }))
    expect(trace).toEqual(['exclusive', 'exclusive'])
    expect((await resultsOf(agent)).map((each) => each.isError)).toEqual([false, false, false])
  })

  it('each get a result when one fails, is unknown, or has bad arguments', async () => {
    host.ctx.tools.register(textTool('ok', () => 'fine'))
    host.ctx.tools.register(
      textTool('bad', () => {
        throw new Error('broken')
      }),
    )
    const agent = await runOnce(
      callTools({ name: 'bad' }, { name: 'nope' }, { name: 'ok', raw: '{"n": 1' }, { name: 'ok', raw: ' ' }),
    )
    const results = await resultsOf(agent)
    expect(results.map((each) => each.error?.code)).toEqual(['TOOL_FAILED', 'UNKNOWN_TOOL', 'INVALID_ARGS', undefined])
    const [first] = await eventsOfType(agent.session, 'assistant/message')
    expect(first?.data.content[2]).toMatchObject({ arguments: '{"n": 1' })
  })

  it('keep long ids and get unique ones when the model repeats itself', async () => {
    host.ctx.tools.register(textTool('ok', () => 'fine'))
    const long = 'x'.repeat(90)
    const agent = await runOnce(
      callTools({ name: 'ok', id: long }, { name: 'ok', id: 'same' }, { name: 'ok', id: 'same' }),
    )
    expect((await resultsOf(agent)).map((each) => each.callId)).toEqual([long, 'same', 'same_2'])
    const [first] = await eventsOfType(agent.session, 'assistant/message')
    expect(first?.data.content.map((block) => (block.type === 'tool-call' ? block.id : ''))).toEqual([
      long,
      'same',
      'same_2',
    ])
  })

  it('run also when the provider says stop', async () => {
    host.ctx.tools.register(textTool('ok', () => 'fine'))
    const agent = await runOnce([...callTools({ name: 'ok' }).slice(0, -1), { type: 'finish', reason: 'stop' }])
    expect(await resultsOf(agent)).toHaveLength(1)
  })

  it('see the call in the log before the body starts', async () => {
    let logged: string[] = []
    const agent = await host.agents.create({})
    host.ctx.tools.register(
      textTool('look', async () => {
        const { readFile } = await import('node:fs/promises')
        const text = await readFile(`${host.dir}/${agent.id}.jsonl`, 'utf8')
        logged = text
          .trimEnd()
          .split('\n')
          .map((line) => (JSON.parse(line) as { type: string }).type)
        return 'looked'
      }),
    )
    host.model.next(callTools({ name: 'look' }))
    agent.send('go')
    await agent.whenIdle()
    expect(logged.at(-1)).toBe('tool/call')
  })

  it('add their contexts behind all results, in the order of the calls', async () => {
    host.ctx.tools.register(textTool('safe', ({ n }) => String(n), { parallel: true }))
    host.ctx.on('tools/post-execute', (exec, _result, next) => {
      void next
      const source = { kind: 'tool' as const, callId: exec.callId }
      return { kind: 'accept', additionalContexts: [{ content: `about ${exec.callId}`, source }] }
    })
    const agent = await runOnce(callTools({ name: 'safe', id: 'a' }, { name: 'safe', id: 'b' }))
    const after = (await eventsOf(agent.session)).map((event) =>
      event.type === 'user/message' ? contentText(event.data.message.content) : event.type,
    )
    expect(after.filter((each) => each === 'tool/result' || each.startsWith('about'))).toEqual([
      'tool/result',
      'tool/result',
      'about a',
      'about b',
    ])
    expect(host.model.requests).toHaveLength(2)
  })

  it('keep head and tail of a result that would poison the history', async () => {
    await restart({ maxResultBytes: 4096 })
    const line = '😀'.repeat(2_500_000) // 10 MB without a line end
    host.ctx.tools.register(textTool('flood', () => line))
    const agent = await runOnce(callTools({ name: 'flood' }))
    const [{ content } = { content: [] }] = await resultsOf(agent)
    const text = contentText(content)
    expect(Buffer.byteLength(text)).toBeLessThan(4300)
    expect(text).toContain('of 10000000 bytes are missing here')
    expect(isWellFormed(text)).toBe(true)
    expect(text.startsWith('😀') && text.endsWith('😀')).toBe(true)
  })

  it('may inject context that the next request sees', async () => {
    host.ctx.tools.register(
      textTool('note', (_args, exec) => {
        exec.agent?.inject({ content: 'remember', source: { kind: 'tool', callId: exec.callId } })
        return 'noted'
      }),
    )
    await runOnce(callTools({ name: 'note' }))
    expect(host.model.requests[1]?.messages.at(-1)).toEqual({
      role: 'user',
      content: [{ type: 'text', text: 'remember' }],
    })
  })

  it('see tools of the agent scope, and no other agent does', async () => {
    const mine = await host.agents.create({ ephemeral: true })
    mine.ctx.tools.register(textTool('private', () => 'secret'))
    host.model.next(callTools({ name: 'private' }))
    mine.send('go')
    await mine.whenIdle()
    expect(await resultsOf(mine)).toMatchObject([{ isError: false }])
    expect(host.model.requests[0]?.tools.map((tool) => tool.name)).toEqual(['private'])
    const other = await runOnce(callTools({ name: 'private' }))
    expect(await resultsOf(other)).toMatchObject([{ isError: true, error: { code: 'UNKNOWN_TOOL' } }])
  })

  it('stop at a log that cannot be written: no body runs, each call has a result, the turn ends with an error', async () => {
    let ran = 0
    host.ctx.tools.register(textTool('ok', () => `${++ran}`))
    const agent = await host.agents.create({ ephemeral: true })
    const failure = Object.assign(new Error('disk full'), { code: 'ENOSPC' })
    agent.session.flush = () => Promise.reject(failure)
    host.model.next(callTools({ name: 'ok', id: 'a' }, { name: 'ok', id: 'b' }), say('never'))
    agent.send('go')
    await agent.whenIdle()
    expect(ran).toBe(0)
    expect((await resultsOf(agent)).map((each) => each.error?.code)).toEqual([
      'SESSION_WRITE_FAILED',
      'ABORTED_BEFORE_DISPATCH',
    ])
    const [end] = await eventsOfType(agent.session, 'turn/end')
    expect(end?.data.reason).toMatchObject({ kind: 'error', error: { message: 'disk full' } })
    expect(host.model.requests).toHaveLength(1)
  })
})

it('lets a running call finish before the results behind it are logged', async () => {
  const slow = deferred()
  const quick = deferred()
  host.ctx.tools.register(textTool('slow', () => slow.promise.then(() => 'slow'), { parallel: true }))
  host.ctx.tools.register(textTool('quick', () => (quick.resolve(), 'quick'), { parallel: true }))
  host.model.next(callTools({ name: 'slow' }, { name: 'quick' }))
  const agent = await host.agents.create({ ephemeral: true })
  agent.send('go')
  await quick.promise
  await new Promise((resolve) => setImmediate(resolve))
  expect(await resultsOf(agent)).toEqual([])
  slow.resolve()
  await agent.whenIdle()
  expect((await resultsOf(agent)).map((each) => contentText(each.content))).toEqual(['slow', 'quick'])
})
