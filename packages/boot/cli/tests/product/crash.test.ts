// A server that dies in the middle of a tool call: what is on disk is opened again, says what is not known, and goes on.
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { Waiting, World } from './harness.ts'

let world: World
beforeAll(() => {
  world = new World()
})
afterAll(() => world.remove())

it('opens a session whose server was killed during a call, closes the call and the turn, and goes on', async () => {
  const first = await world.serve()
  const { id } = await first.call('sessions.create', {})
  const reader = await first.events(id)
  const waiting = new Waiting(world)
  const text = `/bash ${JSON.stringify({ command: waiting.command, description: 'Wait' })}`
  await first.call('sessions.send', { id, text })
  await reader.until(({ events }) => events.some(({ type }) => type === 'tool/call'))
  await waiting.started()
  expect(await first.stop('SIGKILL')).toMatchObject({ signal: 'SIGKILL' })
  await vi.waitFor(() => expect(waiting.running()).toBe(false), 5000)

  const second = await world.serve()
  const [row] = await second.call('sessions.list', {})
  expect(row).toMatchObject({ id, interrupted: true })
  expect(await second.call('sessions.open', { id })).toMatchObject({ id, status: 'idle', interrupted: false })
  const again = await second.events(id)
  await again.until(({ caughtUp }) => caughtUp !== undefined)
  const call = again.of('tool/call').at(0)!
  expect(again.of('tool/result').at(0)?.data).toMatchObject({
    callId: call.data.callId,
    callSeq: call.seq,
    isError: true,
    error: { code: 'TOOL_OUTCOME_UNKNOWN' },
  })
  expect(again.of('turn/end').at(0)!.data.reason).toEqual({ kind: 'interrupted' })

  const asked = await second.ask(id, 'Use the bash tool to run `echo still here`', 2)
  expect(asked.of('turn/end').map(({ data }) => data.reason.kind)).toEqual(['interrupted', 'completed'])
  expect(asked.of('tool/result').at(-1)!.data).toMatchObject({ isError: false, content: [{ text: 'still here\n' }] })
  expect(asked.events.map(({ seq }) => seq)).toEqual(asked.events.map((_, index) => index))
  await second.stop()
})
