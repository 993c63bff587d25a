// A server that dies in the middle of a tool call: what is on disk is opened again, says what is not known, and goes on.
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { alive, World } from './harness.ts'

let world: World
beforeAll(() => {
  world = new World()
})
afterAll(() => world.remove())

it('opens a session whose server was killed during a call, closes the call and the turn, and goes on', async () => {
  const first = await world.serve()
  const { id } = await first.call('sessions.create', {})
  const reader = await first.events(id)
  const pidFile = world.file('pid')
  const command = `echo $$ > ${pidFile}; exec sleep 60`
  const text = `/bash ${JSON.stringify({ command, description: 'Wait' })}`
  await first.call('sessions.send', { id, text })
  await reader.until(({ events }) => events.some(({ type }) => type === 'tool/call'))
  const pid = await vi.waitFor(() => {
    const found = Number(readFileSync(pidFile, 'utf8'))
    expect(found).toBeGreaterThan(0)
    return found
  }, 10_000)
  expect(await first.stop('SIGKILL')).toMatchObject({ signal: 'SIGKILL' })
  // Nobody was left to end what the server had started.
  if (alive(pid)) process.kill(pid, 'SIGKILL')

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
