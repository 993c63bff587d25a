import { readFile, rm, writeFile, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { PairingCheck } from '../src/pairing.ts'
import { callTools, eventsOfType, say, startHost, textTool } from './harness.ts'

let dir: string
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'dsh-agent-'))
})
afterEach(() => rm(dir, { recursive: true, force: true }))

it('resumes a log that was cut at any byte and sends a sound conversation', async () => {
  const file = join(dir, 's.jsonl')
  const before = await startHost({}, dir)
  before.ctx.tools.register(textTool('safe', () => 'result', { parallel: true }))
  before.model.next(callTools({ name: 'safe' }, { name: 'safe', id: 'other' }), say('answer'))
  const first = await before.agents.create({ sessionId: 's' })
  first.send('first')
  first.send('second')
  await first.whenIdle()
  await before.dispose()
  const whole = await readFile(file)

  await fc.assert(
    fc.asyncProperty(fc.integer({ min: whole.indexOf(10) + 1, max: whole.length }), async (length) => {
      await writeFile(file, whole.subarray(0, length))
      const host = await startHost({}, dir)
      host.ctx.tools.register(textTool('safe', () => 'result', { parallel: true }))
      const agent = await host.agents.create({ sessionId: 's' })
      const sent = agent.send('go on')
      await agent.whenIdle()
      const claimed = (await eventsOfType(agent.session, 'user/message')).map(({ data }) => data.message.id)
      expect(claimed.filter((id) => id === sent.id)).toHaveLength(1)
      expect(new Set(claimed).size).toBe(claimed.length)
      expect(agent.session.pending()).toEqual([])
      for (const { messages } of host.model.requests) expect(new PairingCheck().check(messages).repairs).toEqual([])
      const turns = (await eventsOfType(agent.session, 'turn/start')).map(({ data }) => data.turn)
      expect(turns).toEqual(turns.map((_, index) => index + 1))
      await host.dispose()
    }),
    { numRuns: 40 },
  )
}, 30_000)
