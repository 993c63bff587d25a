// Many tabs on one session while a tool floods it: nobody loses or doubles an event, and who does not read costs nobody anything.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { residentMiB, World, type Served } from './harness.ts'
import type { SseReader } from './sse-reader.ts'

const TABS = 20
const TURNS = 6
/** At rest the server takes about 70 MiB; one copy of all that is written here for each tab would be 500 MiB. */
const BOUND_MIB = 160

let world: World
let served: Served
beforeAll(async () => {
  world = new World()
  served = await world.serve()
})
afterAll(() => world.remove())

it('shows twenty tabs every event once and in order while a tool prints 20,000 lines, one of them never reading', async () => {
  const { id } = await served.call('sessions.create', {})
  const ignore = await served.openAndIgnore(id)
  const readers: SseReader[] = await Promise.all(Array.from({ length: TABS - 1 }, () => served.events(id)))
  let peak = 0
  const timer = setInterval(() => (peak = Math.max(peak, residentMiB(served.run.pid))), 250)
  // 20,000 lines of 200 characters are 4 MB a turn, more than the sockets of a reader hold.
  const text = `/bash ${JSON.stringify({ command: "seq -f '%0200g' 20000", description: 'Flood' })}`
  for (let turn = 1; turn <= TURNS; turn++) {
    await served.call('sessions.send', { id, text })
    await readers.at(turn)!.until((reader) => reader.of('turn/end').length === turn)
  }
  await Promise.all(readers.map((each) => each.until((reader) => reader.of('turn/end').length === TURNS)))
  clearInterval(timer)
  peak = Math.max(peak, residentMiB(served.run.pid))

  const late = await served.events(id)
  await late.until(({ caughtUp }) => caughtUp !== undefined)
  const log = late.events
  expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index))
  expect(late.of('turn/end').every(({ data }) => data.reason.kind === 'completed')).toBe(true)
  for (const reader of readers) {
    expect(reader.events).toEqual(log)
    expect(reader.liveCount).toBeGreaterThan(0)
  }
  console.log(`server with ${TABS} tabs: ${Math.round(peak)} MiB at most`)
  expect(peak).toBeLessThan(BOUND_MIB)

  for (const reader of [...readers, late]) reader.close()
  ignore()
  expect((await served.stop()).stderr).toBe('')
})
