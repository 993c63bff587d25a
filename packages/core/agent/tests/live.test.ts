import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { LlmChunk } from '@deepseek-ai/dsh-llm'
import type { AgentLive } from '@deepseek-ai/dsh-agent'
import { LiveFeed } from '../src/live.ts'
import { callTools, deferred, hang, isWellFormed, say, startHost, textTool, type TestHost } from './harness.ts'

let host: TestHost
beforeEach(async () => {
  host = await startHost()
})
afterEach(() => host.dispose())

describe('live updates', () => {
  it('batch deltas and arrive whole before the answer is logged', async () => {
    const words = Array.from({ length: 1000 }, (_, index) => `${index} `)
    host.model.next([...words.map((text): LlmChunk => ({ type: 'text', text })), { type: 'finish', reason: 'stop' }])
    const agent = await host.agents.create({ ephemeral: true })
    const updates: AgentLive[] = []
    let textAtAnswer = ''
    let snapshotAtAnswer: string | undefined
    agent.subscribe((live) => void updates.push(live))
    agent.session.subscribe((event) => {
      if (event.type !== 'assistant/message') return
      textAtAnswer = updates.map((live) => (live.kind === 'delta' ? live.text : '')).join('')
      snapshotAtAnswer = agent.snapshot().text
    })
    agent.send('go')
    await agent.whenIdle()
    expect(textAtAnswer).toBe(words.join(''))
    expect(snapshotAtAnswer).toBe('')
    expect(updates.filter((live) => live.kind === 'delta').length).toBeLessThan(100)
    expect(updates.at(0)).toEqual({ kind: 'status', status: 'running' })
    expect(updates.at(-1)).toEqual({ kind: 'status', status: 'idle' })
  })

  it('tell a host that joins in the middle of an answer what is visible', async () => {
    host.model.next(
      hang({ type: 'reasoning', text: 'hm' }, { type: 'text', text: 'so ' }, { type: 'text', text: 'far' }),
    )
    const agent = await host.agents.create({ ephemeral: true })
    const seen = deferred()
    agent.subscribe((live) => void (live.kind === 'delta' && live.block === 'text' && seen.resolve()))
    agent.send('go')
    await seen.promise
    expect(agent.snapshot()).toEqual({ status: 'running', text: 'so far', reasoning: 'hm', progress: [] })
    agent.cancel()
    await agent.whenIdle()
    expect(agent.snapshot()).toEqual({ status: 'idle', text: '', reasoning: '', progress: [] })
  })

  it('show progress of a running call and end with it', async () => {
    const entered = deferred()
    const release = deferred()
    host.ctx.tools.register(
      textTool('work', async (_args, exec) => {
        exec.report({ kind: 'text', text: 'line 1\n' })
        exec.report({ kind: 'text', text: 'line 2\n' })
        exec.report({ kind: 'progress', fraction: 0.5 })
        entered.resolve()
        await release.promise
        return 'done'
      }),
    )
    host.model.next(callTools({ name: 'work', id: 'w' }))
    const agent = await host.agents.create({ ephemeral: true })
    const updates: AgentLive[] = []
    agent.subscribe((live) => void (live.kind === 'progress' && updates.push(live)))
    agent.send('go')
    await entered.promise
    expect(agent.snapshot().progress).toEqual([{ callId: 'w', text: 'line 1\nline 2\n' }])
    release.resolve()
    await agent.whenIdle()
    expect(updates).toEqual([
      { kind: 'progress', callId: 'w', progress: { kind: 'text', text: 'line 1\nline 2\n' } },
      { kind: 'progress', callId: 'w', progress: { kind: 'progress', fraction: 0.5 } },
    ])
    expect(agent.snapshot().progress).toEqual([])
  })

  it('reach every listener although one throws', async () => {
    const agent = await host.agents.create({ ephemeral: true })
    host.model.next(say('hello'))
    agent.subscribe(() => {
      throw new Error('listener')
    })
    let text = ''
    const off = agent.subscribe((live) => void (live.kind === 'delta' && (text += live.text)))
    agent.send('go')
    await agent.whenIdle()
    off()
    agent.send('again')
    await agent.whenIdle()
    expect(text).toBe('hello')
  })
})

describe('LiveFeed', () => {
  it('keeps the newest 64 KiB of a flood and never splits a character', () => {
    const feed = new LiveFeed(() => {})
    let received = 0
    feed.subscribe((live) => {
      if (live.kind === 'progress' && live.progress.kind === 'text')
        received = Math.max(received, live.progress.text.length)
    })
    feed.startCall('c')
    for (let round = 0; round < 1000; round++) feed.progress('c', { kind: 'text', text: `x${'😀'.repeat(1000)}` })
    feed.progress('c', { kind: 'text', text: 'end' })
    const [{ text } = { text: '' }] = feed.snapshot().progress
    expect(text.length).toBeLessThanOrEqual(64 * 1024)
    expect(text.length).toBeGreaterThan(63 * 1024)
    expect(isWellFormed(text)).toBe(true)
    expect(text.endsWith('end')).toBe(true)
    feed.flush()
    expect(received).toBeLessThanOrEqual(64 * 1024)
  })

  it('bounds what a producer that never yields can pile up', () => {
    const feed = new LiveFeed(() => {})
    let largest = 0
    let count = 0
    feed.subscribe(() => void (count += 1))
    feed.startCall('c')
    for (let round = 0; round < 5000; round++) {
      const before = count
      feed.progress('c', { kind: 'text', text: 'x', stream: round % 2 === 0 ? 'stdout' : 'stderr' })
      largest = Math.max(largest, count - before)
    }
    expect(count).toBeGreaterThan(4000)
    expect(largest).toBeLessThanOrEqual(512)
    feed.close()
  })

  it('sends the growing arguments of a call a number of times that stays small', () => {
    const feed = new LiveFeed(() => {})
    let sent = 0
    feed.subscribe((live) => void (live.kind === 'tool-call' && (sent += live.arguments.length)))
    let written = ''
    for (let round = 0; round < 20_000; round++) {
      written += '0123456789'
      feed.toolCall('c', 'write', written)
      feed.flush() // as if every delta came in a window of its own
    }
    expect(sent).toBeLessThan(20 * written.length)
    feed.close()
  })

  it('ignores progress of a call that has ended', () => {
    const feed = new LiveFeed(() => {})
    feed.startCall('c')
    feed.endCall('c')
    feed.progress('c', { kind: 'text', text: 'late' })
    expect(feed.snapshot().progress).toEqual([])
  })
})
