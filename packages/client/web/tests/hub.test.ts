import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { EventFrame, LiveFrame } from '@deepseek-ai/dsh-server/protocol'
import { Hub } from '../page/hub/hub.ts'
import type { FromHub } from '../page/hub/messages.ts'
import { windowSize } from '../page/hub/subscriber.ts'

const encoder = new TextEncoder()

/** A server of one session, over `fetch`: streams that stay open, ranges of the past, and what was asked. */
class FakeServer {
  readonly events: EventFrame[] = []
  readonly asked: string[] = []
  text = ''
  private readonly open = new Map<ReadableStreamDefaultController<Uint8Array>, boolean>()

  get streams(): number {
    return this.open.size
  }

  readonly fetch = async (path: string, init: RequestInit = {}): Promise<Response> => {
    this.asked.push(path)
    const url = new URL(path, 'http://host')
    if (init.method === 'POST') return Response.json({ ok: true, value: null })
    const query = url.searchParams
    if (query.has('to')) {
      const past = this.events.slice(Number(query.get('from')), Number(query.get('to')) + 1)
      return new Response(past.map((frame) => wire('event', frame, frame.event.seq)).join(''))
    }
    let mine: ReadableStreamDefaultController<Uint8Array>
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        mine = controller
        this.open.set(controller, url.pathname !== '/api/events')
        if (url.pathname === '/api/events') return
        const headers = init.headers as Record<string, string>
        const after = Number(headers['last-event-id'] ?? -1)
        for (const frame of this.events.slice(after + 1)) put(controller, wire('event', frame, frame.event.seq))
        const snapshot = { status: 'running', text: this.text, reasoning: '', progress: [] }
        put(controller, wire('caught-up', { seq: this.events.length - 1, snapshot }))
      },
    })
    init.signal?.addEventListener('abort', () => this.open.delete(mine))
    return new Response(body)
  }

  append(message = 'x'): void {
    const frame = { event: { seq: this.events.length, time: 0, type: 'session/notice', data: { code: 'N', message } } }
    this.events.push(frame as EventFrame)
    this.send(wire('event', frame, frame.event.seq))
  }

  live(frame: LiveFrame): void {
    this.send(wire('live', frame))
  }

  host(frame: unknown): void {
    for (const controller of this.open.keys()) put(controller, wire('host', frame))
  }

  reset(): void {
    this.events.length = 0
    this.send(wire('reset', { from: 0, lastSeq: -1 }))
  }

  private send(text: string): void {
    for (const [controller, session] of this.open) if (session) put(controller, text)
  }
}

function put(controller: ReadableStreamDefaultController<Uint8Array>, text: string): void {
  controller.enqueue(encoder.encode(text))
}

function wire(event: string, data: unknown, id?: number): string {
  return `event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`
}

/** A tab that folds as the page does, and can stop taking. */
class Tab {
  seqs: number[] = []
  text = ''
  caughtUp = 0
  resets = 0
  posted = 0
  hostFrames: unknown[] = []
  stalled = false
  private readonly untaken: number[] = []
  private readonly hub: ReturnType<Hub['connect']>

  constructor(hub: Hub, after = -1) {
    this.hub = hub.connect({ send: (message) => this.receive(structuredClone(message)) })
    this.hub.receive({ kind: 'hello', session: true })
    this.hub.receive({ kind: 'join', key: 1, id: 's', after })
  }

  leave(): void {
    this.hub.receive({ kind: 'leave', key: 1 })
  }
  gone(): void {
    this.hub.gone()
  }
  wake(): void {
    this.stalled = false
    for (const size of this.untaken.splice(0)) this.hub.receive({ kind: 'taken', key: 1, size })
  }

  private receive(message: FromHub): void {
    if (message.kind === 'host') {
      this.hostFrames.push(...message.messages.map((data) => JSON.parse(data) as unknown))
      queueMicrotask(() => this.hub.receive({ kind: 'taken', size: message.size }))
    }
    if (message.kind !== 'messages') return
    this.posted += message.size
    if (this.stalled) this.untaken.push(message.size)
    else queueMicrotask(() => this.hub.receive({ kind: 'taken', key: 1, size: message.size }))
    for (const { event, data, id } of message.messages) {
      if (event === 'event') this.seqs.push(Number(id))
      if (event === 'reset') {
        this.seqs = []
        this.resets++
      }
      if (event === 'caught-up') {
        this.caughtUp++
        this.text = (JSON.parse(data) as { snapshot: { text: string } }).snapshot.text
      }
      const live = event === 'live' ? (JSON.parse(data) as LiveFrame) : undefined
      if (live?.kind === 'delta') this.text += live.text
    }
  }
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index)

describe('the hub', () => {
  let server: FakeServer
  let hub: Hub

  beforeEach(() => {
    server = new FakeServer()
    hub = new Hub()
    vi.stubGlobal('fetch', server.fetch)
    // Browsers tell there when the network is back; Node has no such target.
    vi.stubGlobal('addEventListener', () => undefined)
    vi.stubGlobal('removeEventListener', () => undefined)
  })
  afterEach(() => vi.unstubAllGlobals())

  it('serves any number of tabs from one stream, late ones from the past and what is in progress', async () => {
    for (let index = 0; index < 5; index++) server.append()
    const first = new Tab(hub)
    await vi.waitUntil(() => first.caughtUp === 1)
    server.live({ kind: 'delta', block: 'text', text: 'Hello, ' })
    await vi.waitUntil(() => first.text === 'Hello, ')
    const others = [new Tab(hub), new Tab(hub, 2)]
    await vi.waitUntil(() => others.every((tab) => tab.caughtUp === 1))
    server.live({ kind: 'delta', block: 'text', text: 'Ada!' })
    server.append()
    const tabs = [first, ...others]
    await vi.waitUntil(() => tabs.every((tab) => tab.seqs.at(-1) === 5))
    expect(tabs.map(({ text }) => text)).toEqual(Array(3).fill('Hello, Ada!'))
    expect(tabs.map(({ seqs }) => seqs)).toEqual([upTo(6), upTo(6), [3, 4, 5]])
    expect(server.streams).toBe(1)
    expect(server.asked.filter((path) => path === '/api/sessions.open')).toHaveLength(1)
  })

  it('leaves a stalled tab behind within a bound, and gives it the rest when it wakes', async () => {
    const [quick, slow] = [new Tab(hub), new Tab(hub)]
    await vi.waitUntil(() => quick.caughtUp === 1 && slow.caughtUp === 1)
    slow.stalled = true
    const count = 20
    for (let index = 0; index < count; index++) server.append('x'.repeat(windowSize / 4))
    await vi.waitUntil(() => quick.seqs.length === count)
    expect(slow.posted).toBeLessThan(windowSize * 1.5)
    slow.wake()
    await vi.waitUntil(() => slow.seqs.length === count)
    expect(slow.seqs).toEqual(upTo(count))
    server.append()
    await vi.waitUntil(() => slow.seqs.length === count + 1 && quick.seqs.length === count + 1)
    expect(quick.seqs).toEqual(upTo(count + 1))
  })

  it('makes every tab start over when the log is shorter than what they know', async () => {
    for (let index = 0; index < 3; index++) server.append()
    const tabs = [new Tab(hub), new Tab(hub)]
    await vi.waitUntil(() => tabs.every((tab) => tab.caughtUp === 1))
    server.reset()
    server.append()
    await vi.waitUntil(() => tabs.every((tab) => tab.resets === 1 && tab.seqs.length === 1))
    expect(tabs.map(({ seqs }) => seqs)).toEqual([[0], [0]])
    const stale = new Tab(hub, 40)
    await vi.waitUntil(() => stale.caughtUp === 1)
    expect([stale.resets, stale.seqs]).toEqual([1, [0]])
  })

  it('carries the frames of the host on the stream of a session, and on one of their own without', async () => {
    const tabs = [new Tab(hub), new Tab(hub)]
    await vi.waitUntil(() => tabs.every((tab) => tab.caughtUp === 1))
    expect(server.asked.filter((path) => path.endsWith('/events'))).toEqual([])
    server.host({ n: 1 })
    await vi.waitUntil(() => tabs.every((tab) => tab.hostFrames.length === 1))
    for (const tab of tabs) tab.leave()
    await vi.waitUntil(() => server.asked.includes('/api/events') && server.streams === 1)
    server.host({ n: 2 })
    await vi.waitUntil(() => tabs.every((tab) => tab.hostFrames.length === 2))
    for (const tab of tabs) tab.gone()
    await vi.waitUntil(() => server.streams === 0)
  })
})
