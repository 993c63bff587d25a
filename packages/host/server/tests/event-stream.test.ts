import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { ServerResponse } from 'node:http'
import { appendFile, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FINISH, calls, says, startHost, tempFolder, type TestHost } from './host.ts'
import { SseClient } from './sse-client.ts'

let host: TestHost
let folder: Awaited<ReturnType<typeof tempFolder>>

beforeEach(async () => {
  folder = await tempFolder()
  host = await startHost(folder.path)
})
afterEach(async () => {
  await host.dispose()
  await folder.remove()
})

const upTo = (last: number, from = 0): number[] => Array.from({ length: last - from + 1 }, (_, index) => from + index)

function follow(id: string, options: { from?: number; last?: number; on?: TestHost } = {}): Promise<SseClient> {
  const { from, last, on = host } = options
  const headers: Record<string, string> = { authorization: `Bearer ${on.token}` }
  if (last !== undefined) headers['last-event-id'] = String(last)
  return SseClient.open(`${on.origin}/api/sessions/${id}/events${from === undefined ? '' : `?from=${from}`}`, headers)
}

/** Resolves when the server is done with the next request that begins. */
function nextResponseClosed(): Promise<void> {
  return new Promise((resolve) => {
    const listener = (message: unknown): void => {
      unsubscribe('http.server.request.start', listener)
      ;(message as { response: ServerResponse }).response.once('close', () => resolve())
    }
    subscribe('http.server.request.start', listener)
  })
}

/** A tool whose body waits until it is told to go on. */
function gatedTool(on: TestHost, name = 'wait') {
  let open: () => void = () => {}
  let begun: () => void = () => {}
  const gate = new Promise<void>((resolve) => (open = resolve))
  const started = new Promise<void>((resolve) => (begun = resolve))
  on.ctx.tools.register({
    name,
    description: 'Waits.',
    parameters: { type: 'object', properties: {}, additionalProperties: true },
    output: { schema: {}, render: (_, value) => [{ type: 'text', text: String(value) }] },
    async execute(_, exec) {
      exec.report({ kind: 'text', text: 'half way\n' })
      begun()
      await gate
      return 'done'
    },
  })
  return { open, started }
}

describe('the event stream of a session', () => {
  it('tells a whole turn in order, once, with ids, and says when it has caught up', async () => {
    const { id } = await host.value('sessions.create', {})
    const reader = await follow(id)
    await reader.until(({ caughtUp }) => caughtUp.length === 1)
    host.script.push(() => says('Hello, Ada!'))
    await host.value('sessions.send', { id, text: 'greet' })
    await reader.until(({ events }) => events.some(({ event }) => event.type === 'turn/end'))

    const stored = await host.ctx.sessions.get(id)?.read({ from: 0 })
    expect(reader.events.map(({ event }) => event)).toEqual(stored)
    expect(reader.frames.filter(({ event }) => event === 'event').map((frame) => frame.id)).toEqual(reader.seqs)
    expect(reader.frames.filter(({ event, id }) => event !== 'event' && id !== undefined)).toEqual([])
    await reader.until(({ live }) => live.some((each) => each.kind === 'status' && each.status === 'idle'))
    expect(reader.caughtUp).toHaveLength(1)
    reader.close()
  })

  it('goes on behind Last-Event-ID at every event, without loss or repeat', async () => {
    const { id } = await host.value('sessions.create', {})
    const session = host.ctx.sessions.get(id)
    for (let index = 0; index < 30; index++) session?.append('session/notice', { code: 'N', message: `${index} é 🎈` })
    const last = session?.lastSeq ?? 0
    for (let seq = 0; seq <= last; seq++) {
      const reader = await follow(id, { last: seq, from: 3 })
      await reader.until(({ caughtUp }) => caughtUp.length === 1)
      expect(reader.seqs).toEqual(upTo(last, seq + 1))
      reader.close()
    }
    const later = await follow(id, { from: 20 })
    await later.until(({ caughtUp }) => caughtUp.length === 1)
    expect(later.seqs).toEqual(upTo(last, 20))
    later.close()
  })

  it('loses and repeats nothing over any sequence of cuts while events are appended', async () => {
    const step = fc.oneof(
      fc.record({
        kind: fc.constant('append' as const),
        count: fc.integer({ min: 1, max: 40 }),
        size: fc.integer({ min: 0, max: 3000 }),
      }),
      fc.record({ kind: fc.constant('cut' as const), after: fc.integer({ min: 0, max: 30 }) }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
        const { id } = await host.value('sessions.create', {})
        const session = host.ctx.sessions.get(id)
        const seen: number[] = []
        let reader = await follow(id)
        const cut = (): void => {
          // What a browser has when it reconnects: the frames that arrived whole.
          seen.push(...reader.seqs)
          reader.close()
        }
        for (const each of steps) {
          if (each.kind === 'append') {
            for (let index = 0; index < each.count; index++) {
              session?.append('session/notice', { code: 'N', message: 'x'.repeat(each.size) })
            }
          } else {
            const wanted = Math.min((seen.at(-1) ?? -1) + each.after, session?.lastSeq ?? 0)
            await reader.until(({ seqs }) => (seqs.at(-1) ?? seen.at(-1) ?? -1) >= wanted)
            cut()
            const last = seen.at(-1)
            reader = await follow(id, last === undefined ? {} : { last })
          }
        }
        const last = session?.lastSeq ?? 0
        await reader.until(({ seqs }) => (seqs.at(-1) ?? seen.at(-1)) === last)
        cut()
        expect(seen).toEqual(upTo(last))
      }),
      { numRuns: 20 },
    )
  }, 30_000)

  it('sends a range of the past and ends, however short the log is', async () => {
    const { id } = await host.value('sessions.create', {})
    const session = host.ctx.sessions.get(id)
    for (let index = 0; index < 30; index++) session?.append('session/notice', { code: 'N', message: String(index) })
    const last = session?.lastSeq ?? 0
    const past = async (query: string): Promise<SseClient> => {
      const reader = await SseClient.open(`${host.origin}/api/sessions/${id}/events?${query}`, {
        authorization: `Bearer ${host.token}`,
      })
      await reader.whenEnded()
      return reader
    }
    const ranges = { 'from=3&to=7': upTo(7, 3), 'to=0': [0], 'from=9&to=2': [], 'from=900&to=999': [] }
    for (const [query, seqs] of Object.entries(ranges)) {
      const { frames } = await past(query)
      expect(frames.map(({ id: seq }) => seq)).toEqual(seqs)
    }
    expect((await past('from=20&to=999')).seqs).toEqual(upTo(last, 20))
    await expect(past('to=x')).rejects.toThrow('INVALID_PARAMS')
  })

  it('carries the frames of the host too when asked, without ids', async () => {
    const { id } = await host.value('sessions.create', {})
    const headers = { authorization: `Bearer ${host.token}` }
    const reader = await SseClient.open(`${host.origin}/api/sessions/${id}/events?host=1`, headers)
    await reader.until(({ caughtUp, host: frames }) => caughtUp.length === 1 && frames.length > 0)
    expect(reader.host[0]).toMatchObject({ kind: 'info' })
    const other = await host.value('sessions.create', {})
    await reader.until(({ host: frames }) =>
      frames.some((each) => each.kind === 'session' && each.session.id === other.id),
    )
    await host.value('sessions.delete', { id: other.id })
    await reader.until(({ host: frames }) => frames.some((each) => each.kind === 'removed' && each.id === other.id))
    expect(reader.frames.filter(({ event, id: seq }) => event !== 'event' && seq !== undefined)).toEqual([])
    reader.close()
  })

  it('cuts off a reader that takes nothing, which then goes on behind the last event it has', async () => {
    const second = await startHost(`${folder.path}/stall`, { stallMs: 1000 })
    try {
      const { id } = await second.value('sessions.create', {})
      const session = second.ctx.sessions.get(id)
      const cut = nextResponseClosed()
      const reader = await follow(id, { on: second })
      await reader.until(({ caughtUp }) => caughtUp.length === 1)
      reader.pause()
      // More than the sockets on both sides hold.
      for (let index = 0; index < 40; index++) {
        session?.append('session/notice', { code: 'N', message: 'x'.repeat(1024 * 1024) })
      }
      await cut
      reader.resume()
      await reader.whenEnded()
      const have = reader.seqs.at(-1) ?? 0
      const last = session?.lastSeq ?? 0
      expect(have).toBeLessThan(last)
      const again = await follow(id, { on: second, last: have })
      await again.until(({ caughtUp }) => caughtUp.length === 1)
      expect([...reader.seqs, ...again.seqs]).toEqual(upTo(last))
      again.close()
    } finally {
      await second.dispose()
    }
  }, 20_000)

  it('tells a late reader what is in progress, then what follows', async () => {
    const { id } = await host.value('sessions.create', {})
    let more: () => void = () => {}
    const gate = new Promise<void>((resolve) => (more = resolve))
    host.script.push(async function* () {
      yield { type: 'text', text: 'First half, ' }
      await gate
      yield { type: 'text', text: 'second half.' }
      yield FINISH
    })
    await host.value('sessions.send', { id, text: 'go' })
    const early = await follow(id)
    await early.until(
      ({ live, caughtUp }) => live.some((each) => each.kind === 'delta') || (caughtUp[0]?.snapshot.text ?? '') !== '',
    )
    const late = await follow(id)
    await late.until(({ caughtUp }) => caughtUp.length === 1)
    expect(late.caughtUp[0]?.snapshot).toMatchObject({ status: 'running', text: 'First half, ' })
    more()
    await late.until(({ events }) => events.some(({ event }) => event.type === 'assistant/message'))
    const streamed = late.live.flatMap((each) => (each.kind === 'delta' ? [each.text] : [])).join('')
    expect(['second half.', '']).toContain(streamed)
    // Whatever is streamed comes before the message that replaces it.
    const message = late.frames.findIndex(
      ({ data }) => (data as { event?: { type: string } }).event?.type === 'assistant/message',
    )
    expect(
      late.frames
        .slice(message)
        .some(({ event, data }) => event === 'live' && (data as { kind: string }).kind === 'delta'),
    ).toBe(false)
    early.close()
    late.close()
  })

  it('shows the output of a running call before its result', async () => {
    const { open, started } = gatedTool(host)
    const { id } = await host.value('sessions.create', {})
    const reader = await follow(id)
    host.script.push(() => calls('wait', '{}'))
    await host.value('sessions.send', { id, text: 'go' })
    await started
    await reader.until(
      ({ live, caughtUp }) =>
        live.some((each) => each.kind === 'progress') || (caughtUp[0]?.snapshot.progress.length ?? 0) > 0,
    )
    const late = await follow(id)
    await late.until(({ caughtUp }) => caughtUp.length === 1)
    expect(late.caughtUp[0]?.snapshot.progress).toEqual([{ callId: 'call-1', text: 'half way\n' }])
    open()
    await reader.until(({ events }) => events.some(({ event }) => event.type === 'turn/end'))
    const kinds = reader.frames.map(({ event, data }) =>
      event === 'live' ? (data as { kind: string }).kind : (data as { event?: { type: string } }).event?.type,
    )
    expect(kinds.lastIndexOf('progress')).toBeLessThan(kinds.indexOf('tool/result'))
    reader.close()
    late.close()
  })

  it('shows a stored session without starting an agent, and closes it behind the last viewer', async () => {
    const { id } = await host.value('sessions.create', {})
    await host.ctx.agents.get(id)?.dispose()
    const [first, second] = await Promise.all([follow(id), follow(id)])
    await Promise.all([
      first.until(({ caughtUp }) => caughtUp.length === 1),
      second.until(({ caughtUp }) => caughtUp.length === 1),
    ])
    expect(first.caughtUp[0]).toEqual({ seq: 0, snapshot: { status: 'idle', text: '', reasoning: '', progress: [] } })
    expect(host.ctx.agents.list()).toEqual([])
    const open = host.ctx.sessions.get(id)
    expect(open?.open).toBe(true)
    first.close()
    second.close()
    await expect.poll(() => host.ctx.sessions.get(id)).toBeUndefined()
    expect(open?.open).toBe(false)
    // Nothing keeps the log: it can be opened for work, and the turn runs.
    await host.value('sessions.send', { id, text: 'hi' })
    await host.ctx.agents.get(id)?.whenIdle()
    expect(host.ctx.agents.get(id)?.session.turn).toBe(1)
  })

  it('goes on when an agent starts on the session that is being viewed, and when that agent ends', async () => {
    const { id } = await host.value('sessions.create', {})
    await host.ctx.agents.get(id)?.dispose()
    const reader = await follow(id)
    await reader.until(({ caughtUp }) => caughtUp.length === 1)
    for (let turn = 1; turn <= 3; turn++) {
      const agent = await host.ctx.agents.create({ sessionId: id })
      agent.send(`turn ${turn}`)
      await agent.whenIdle()
      await agent.dispose()
    }
    await reader.until(({ events }) => events.filter(({ event }) => event.type === 'turn/end').length === 3)
    expect(reader.seqs).toEqual(upTo(reader.seqs.at(-1) ?? 0))
    reader.close()
  })

  it('ends for a session that is deleted, and is refused for one that is not there', async () => {
    const { id } = await host.value('sessions.create', {})
    const reader = await follow(id)
    await reader.until(({ caughtUp }) => caughtUp.length === 1)
    await host.value('sessions.delete', { id })
    await reader.whenEnded()
    await expect(follow(id)).rejects.toThrow(/404 .*SESSION_NOT_FOUND/)
    await expect(follow('%2e%2e%2fx')).rejects.toThrow(/404/)
    await expect(follow(id, { last: -1 })).rejects.toThrow(/400 .*Last-Event-ID must be the number of an event/)
  })

  it('starts over when the reader knows more than the log', async () => {
    const { id } = await host.value('sessions.create', {})
    const reader = await follow(id, { last: 41 })
    await reader.until(({ caughtUp }) => caughtUp.length === 1)
    expect(reader.frames.map(({ event }) => event).slice(0, 3)).toEqual(['reset', 'event', 'caught-up'])
    expect(reader.frames[0]?.data).toEqual({ from: 0, lastSeq: 0 })
    expect(reader.seqs).toEqual([0])
    reader.close()
  })

  it('goes on over a restart of the server, with what a kill in the middle left closed', async () => {
    const { open, started } = gatedTool(host)
    const { id } = await host.value('sessions.create', {})
    const reader = await follow(id)
    host.script.push(() => calls('wait', '{}'))
    await host.value('sessions.send', { id, text: 'go' })
    await started
    await reader.until(({ events }) => events.some(({ event }) => event.type === 'tool/call'))
    const seen = reader.seqs
    // What a SIGKILL leaves: the log as it is at this moment, with a torn line.
    const log = join(folder.path, 'sessions', `${id}.jsonl`)
    const killed = await tempFolder()
    const copy = join(killed.path, 'sessions', `${id}.jsonl`)
    const content = await readFile(log, 'utf8')
    const again = await startHost(killed.path)
    try {
      await writeFile(copy, content)
      await appendFile(copy, '{"seq":99,"ti')
      // Everything that the reader saw is in the file.
      expect(content.trimEnd().split('\n').length).toBeGreaterThanOrEqual(seen.length)
      const resumed = await follow(id, { last: seen.at(-1) ?? 0, on: again })
      await resumed.until(({ caughtUp }) => caughtUp.length === 1)
      expect([...seen, ...resumed.seqs]).toEqual(upTo(resumed.caughtUp[0]?.seq ?? 0))
      const types = resumed.events.map(({ event }) => event.type)
      expect(types).toContain('session/notice')
      expect(types.slice(-2)).toEqual(['tool/result', 'turn/end'])
      const result = resumed.events.find(({ event }) => event.type === 'tool/result')?.event.data
      expect(result).toMatchObject({ isError: true, error: { code: 'TOOL_OUTCOME_UNKNOWN' } })
      // The conversation goes on.
      await again.value('sessions.send', { id, text: 'and now?' })
      await resumed.until(({ events }) =>
        events.some(({ event }) => event.type === 'turn/end' && event.data.reason.kind === 'completed'),
      )
      resumed.close()
    } finally {
      await again.dispose()
      await killed.remove()
      reader.close()
      open()
    }
  })
})
