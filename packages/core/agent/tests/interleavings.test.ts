import { describe, expect, it } from 'vitest'
import * as fc from 'fast-check'
import type { LlmChunk } from '@deepseek-ai/dsh-llm'
import type { SessionEvent } from '@deepseek-ai/dsh-session'
import { callTools, eventsOf, fail, hang, say, startHost, textTool, type Script } from './harness.ts'

const act = fc.oneof(
  fc.record({
    kind: fc.constant('send' as const),
    delivery: fc.constantFrom('queue' as const, 'steer' as const, 'inject' as const),
  }),
  fc.record({ kind: fc.constant('withdraw' as const), which: fc.nat(20) }),
  fc.record({ kind: fc.constant('cancel' as const), clearInbox: fc.boolean() }),
  fc.record({ kind: fc.constant('ticks' as const), count: fc.nat(40) }),
)
type Reply = 'say' | 'one call' | 'three calls' | 'fail for now' | 'fail for good' | 'cut' | 'slow'
const reply = fc.constantFrom<Reply>('say', 'one call', 'three calls', 'fail for now', 'fail for good', 'cut', 'slow')

async function* slowly(chunks: readonly LlmChunk[]): AsyncGenerator<LlmChunk> {
  for (const chunk of chunks) {
    for (let tick = 0; tick < 5; tick++) await Promise.resolve()
    yield chunk
  }
}

const SCRIPTS: Record<Reply, Script> = {
  say: () => say('words'),
  'one call': () => callTools({ name: 'safe' }),
  // Ids repeat within an answer and from answer to answer.
  'three calls': () => callTools({ name: 'safe', id: 'x' }, { name: 'solo', id: 'x' }, { name: 'nope' }),
  'fail for now': () => [{ type: 'text', text: 'half' }, ...fail('SERVER')],
  'fail for good': () => fail('AUTH'),
  cut: () => [
    { type: 'text', text: 'cut' },
    { type: 'finish', reason: 'max-tokens' },
  ],
  slow: () => slowly([...callTools({ name: 'safe' }).slice(0, -1), ...say('slow')]),
}

/** Counts of how each message that entered the inbox left it. */
function fates(events: readonly SessionEvent[]): Map<string, number> {
  const left = new Map<string, number>()
  const leave = (id: string): void => void (left.has(id) && left.set(id, left.get(id)! + 1))
  for (const event of events) {
    if (event.type === 'inbox/added') left.set(event.data.message.id, 0)
    if (event.type === 'user/message') leave(event.data.message.id)
    if (event.type === 'inbox/removed') event.data.ids.forEach(leave)
  }
  return left
}

function assertPaired(events: readonly SessionEvent[]): void {
  let open: string[] = []
  let turnOpen = false
  const all = new Set<string>()
  for (const event of events) {
    if (event.type === 'turn/start' || event.type === 'turn/end') {
      expect(turnOpen).toBe(event.type === 'turn/end')
      turnOpen = !turnOpen
    }
    if (event.type === 'tool/result') expect(event.data.callId).toBe(open.shift())
    if (['assistant/message', 'user/message', 'turn/end'].includes(event.type)) expect(open).toEqual([])
    if (event.type !== 'assistant/message' || event.data.interrupted === true) continue
    open = event.data.content.flatMap((block) => (block.type === 'tool-call' ? [block.id] : []))
    for (const id of open) expect(all.has(id)).toBe(false)
    for (const id of open) all.add(id)
  }
  expect(turnOpen).toBe(false)
  expect(open).toEqual([])
}

describe('any interleaving of send, steer, inject, withdraw and cancel', () => {
  it('keeps calls and results paired and claims or removes each message once', async () => {
    const host = await startHost({ maxRetries: 2, retryBaseMs: 0, retryMaxMs: 0 })
    const pause = async (ticks: number): Promise<string> => {
      for (let tick = 0; tick < ticks; tick++) await Promise.resolve()
      return 'done'
    }
    // Input is claimed for a while before it is logged: the time in which it could be taken twice or back.
    host.ctx.on('agent/pre-step', async (_event, next) => {
      await pause(ticksBeforeStep)
      return next()
    })
    let ticksBeforeStep = 0
    host.ctx.tools.register(textTool('safe', () => pause(7), { parallel: true }))
    host.ctx.tools.register(textTool('solo', () => pause(3)))
    const acts = fc.array(act, { minLength: 1, maxLength: 25 })
    await fc.assert(
      fc.asyncProperty(
        acts,
        fc.array(reply, { maxLength: 12 }),
        fc.boolean(),
        fc.nat(30),
        async (steps, replies, dispose, ticks) => {
          ticksBeforeStep = ticks
          host.model.scripts.length = 0
          host.model.next(...replies.map((each) => SCRIPTS[each]))
          const agent = await host.agents.create({ ephemeral: true })
          const sent: string[] = []
          for (const step of steps) {
            if (step.kind === 'send') sent.push(agent.send('text', { delivery: step.delivery }).id)
            else if (step.kind === 'cancel') agent.cancel('user', { clearInbox: step.clearInbox })
            else if (step.kind === 'ticks') await pause(step.count)
            else agent.withdraw(sent[step.which % Math.max(1, sent.length)] ?? '')
          }
          if (dispose) await agent.dispose()
          else await agent.whenIdle()
          const events = await eventsOf(agent.session)
          assertPaired(events)
          const waiting = new Set(agent.session.pending().map(({ message }) => message.id))
          const left = fates(events)
          expect([...left.keys()]).toEqual(sent)
          for (const [id, count] of left) expect(count).toBe(waiting.has(id) ? 0 : 1)
          if (!dispose) {
            expect(agent.session.pending().every(({ delivery }) => delivery === 'inject')).toBe(true)
            await agent.dispose()
          }
        },
      ),
      { numRuns: 150 },
    )
    await host.dispose()
  }, 30_000)

  it('settles after a cancel although a stream never does', async () => {
    const host = await startHost()
    host.model.fallback = hang({ type: 'text', text: 'x' })
    const agent = await host.agents.create({ ephemeral: true })
    for (let round = 0; round < 20; round++) agent.send(`message ${round}`)
    for (let round = 0; round < 20; round++) {
      while (host.model.requests.length <= round) await Promise.resolve()
      agent.cancel()
    }
    await agent.whenIdle()
    expect(agent.session.turn).toBe(20)
    await host.dispose()
  })
})
