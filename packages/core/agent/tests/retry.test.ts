import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { LlmChunk, LlmFailure } from '@deepseek-ai/dsh-llm'
import type { Agent, AgentLive } from '@deepseek-ai/dsh-agent'
import { retryDelay } from '../src/retry.ts'
import { callTools, eventsOfType, fail, say, startHost, textTool, type TestHost } from './harness.ts'

const CONFIG = {
  maxRetries: 5,
  retryBaseMs: 500,
  retryMaxMs: 10_000,
  retryJitter: 0,
  maxParallelCalls: 10,
  maxResultBytes: 4096,
}

let host: TestHost
let agent: Agent
beforeEach(async () => {
  host = await startHost({ maxRetries: 2 })
  agent = await host.agents.create({ ephemeral: true })
})
afterEach(() => host.dispose())

async function run(): Promise<void> {
  agent.send('go')
  await agent.whenIdle()
}

async function endOfTurn(): Promise<unknown> {
  return (await eventsOfType(agent.session, 'turn/end')).at(-1)?.data.reason
}

describe('a failed request', () => {
  it.each(['SERVER', 'TIMEOUT', 'TRANSPORT', 'STREAM_CLOSED', 'EMPTY_RESPONSE', 'MALFORMED_RESPONSE', 'RATE_LIMIT'])(
    'is tried again after %s',
    async (code) => {
      host.model.next(fail(code as LlmFailure['code']), say('fine'))
      await run()
      const retries = await eventsOfType(agent.session, 'llm/retry')
      expect(retries.map(({ data }) => [data.turn, data.step, data.attempt, data.failure.code])).toEqual([
        [1, 1, 1, code],
      ])
      expect(await endOfTurn()).toEqual({ kind: 'completed' })
    },
  )

  it.each([
    'MISSING_CREDENTIAL',
    'AUTH',
    'QUOTA',
    'CONTEXT_WINDOW_EXCEEDED',
    'INVALID_REQUEST',
    'UNKNOWN_MODEL',
    'UNKNOWN',
  ])('ends the turn after %s', async (code) => {
    host.model.next(fail(code as LlmFailure['code'], { status: 418 }))
    await run()
    expect(await endOfTurn()).toEqual({
      kind: 'error',
      error: { code, message: `it failed with ${code}`, status: 418 },
    })
    expect(host.model.requests).toHaveLength(1)
  })

  it('gives up after the configured number of retries', async () => {
    host.model.fallback = () => fail('SERVER')
    await run()
    expect(host.model.requests).toHaveLength(3)
    expect(await endOfTurn()).toMatchObject({ kind: 'error', error: { code: 'SERVER' } })
  })

  it('contributes no message and runs none of its calls', async () => {
    let ran = 0
    host.ctx.tools.register(textTool('echo', () => `${++ran}`))
    const partial: LlmChunk[] = [{ type: 'text', text: 'half' }, ...callTools({ name: 'echo', id: 'c1' }).slice(0, -1)]
    host.model.next([...partial, ...fail('TRANSPORT')], callTools({ name: 'echo', id: 'c1' }))
    const attempts: number[] = []
    agent.subscribe((live: AgentLive) => void (live.kind === 'attempt' && attempts.push(live.attempt)))
    await run()
    expect(ran).toBe(1)
    expect(attempts).toEqual([1, 2, 1])
    const answers = await eventsOfType(agent.session, 'assistant/message')
    expect(answers.map(({ data }) => data.content.map((block) => block.type))).toEqual([['tool-call'], ['text']])
    expect((await eventsOfType(agent.session, 'tool/result'))[0]?.data.callId).toBe('c1')
  })

  it('counts an answer of nothing as a failure that may pass', async () => {
    host.model.next([{ type: 'finish', reason: 'stop' }], say('something'))
    await run()
    expect((await eventsOfType(agent.session, 'llm/retry'))[0]?.data.failure.code).toBe('EMPTY_RESPONSE')
  })

  it('counts a stream without an end as closed', async () => {
    host.model.next([{ type: 'text', text: 'half' }], say('whole'))
    await run()
    expect((await eventsOfType(agent.session, 'llm/retry'))[0]?.data.failure.code).toBe('STREAM_CLOSED')
    expect(host.model.requests[1]?.messages).toHaveLength(1)
  })

  it('of an adapter that throws ends the turn, and the next one works', async () => {
    host.model.next(() => {
      throw new Error('adapter bug')
    })
    await run()
    expect(await endOfTurn()).toMatchObject({
      kind: 'error',
      error: { message: expect.stringContaining('adapter bug') },
    })
    await run()
    expect(await endOfTurn()).toEqual({ kind: 'completed' })
  })

  it('is tried again when a listener of agent/request-error asks for it, at most maxRetries times', async () => {
    const seen: number[] = []
    host.ctx.on('agent/request-error', ({ attempt, failure }) => {
      seen.push(attempt)
      return failure.code === 'CONTEXT_WINDOW_EXCEEDED' ? { kind: 'retry' } : undefined
    })
    host.model.fallback = () => fail('CONTEXT_WINDOW_EXCEEDED')
    await run()
    expect(seen).toEqual([1, 2, 3])
    expect(await endOfTurn()).toMatchObject({ kind: 'error', error: { code: 'CONTEXT_WINDOW_EXCEEDED' } })
  })
})

describe('the wait before a retry', () => {
  const failure = (facts: Partial<LlmFailure> = {}): LlmFailure => ({ code: 'SERVER', message: 'x', ...facts })

  it('doubles up to the limit', () => {
    const delays = [1, 2, 3, 4, 5, 6].map((attempt) => retryDelay(failure(), attempt, { ...CONFIG, retryMaxMs: 3000 }))
    expect(delays).toEqual([500, 1000, 2000, 3000, 3000, undefined])
  })

  it('varies by the configured part', () => {
    for (let round = 0; round < 100; round++) {
      const delay = retryDelay(failure(), 1, { ...CONFIG, retryJitter: 0.5 })
      expect(delay).toBeGreaterThanOrEqual(250)
      expect(delay).toBeLessThanOrEqual(500)
    }
  })

  it('is what the provider asks for, unless that is too long', () => {
    expect(retryDelay(failure({ code: 'RATE_LIMIT', retryAfterMs: 7000 }), 1, CONFIG)).toBe(7000)
    expect(retryDelay(failure({ code: 'RATE_LIMIT', retryAfterMs: 10_001 }), 1, CONFIG)).toBeUndefined()
  })
})
