import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startHost, tempFolder, type TestHost } from '../host.ts'

const TABS = 20
const EVENTS = 50_000
const MIB = 1024 * 1024
/** The large line alone is 10 MiB, twice while it is encoded. */
const BOUND_MIB = 48

let host: TestHost
let folder: Awaited<ReturnType<typeof tempFolder>>

beforeAll(async () => {
  folder = await tempFolder()
  host = await startHost(folder.path)
})
afterAll(async () => {
  await host.dispose()
  await folder.remove()
})

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** Bytes in use once the garbage is gone. */
async function retained(): Promise<number> {
  // Buffers are given back behind the collection that finds them.
  for (let round = 0; round < 3; round++) {
    collect()
    await new Promise((resolve) => setImmediate(resolve))
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

interface Report {
  kind: 'open' | 'read' | 'woken'
  counts: number[]
  wrong: number[]
}

it('serves twenty tabs, one of which does not read, without loss and in bounded memory', async () => {
  const { id } = await host.value('sessions.create', {})
  const session = host.ctx.sessions.get(id)
  if (session === undefined) throw new Error('the session is not live')
  const script = fileURLToPath(new URL('fixtures/tabs.mjs', import.meta.url))
  const child = fork(script, [host.origin, host.token, id, String(TABS), String(EVENTS)])
  const report = async (): Promise<Report> => ((await once(child, 'message')) as [Report])[0]
  try {
    expect((await report()).kind).toBe('open')
    const before = await retained()
    const read = report()
    const filler = 'x'.repeat(100)
    let most = 0
    const sample = async (): Promise<void> => {
      most = Math.max(most, ((await retained()) - before) / MIB)
    }
    for (let index = 1; index < EVENTS; index++) {
      const message = index === EVENTS / 2 ? 'y'.repeat(10 * MIB) : `${index} ${filler}`
      session.append('session/notice', { code: 'N', message })
      // A tool that floods still leaves the event loop its turn.
      if (index % 500 === 0) await new Promise((resolve) => setImmediate(resolve))
      if (index % 5000 === 1) await sample()
    }
    const everything = { counts: Array(TABS - 1).fill(EVENTS), wrong: Array(TABS - 1).fill(0) }
    expect(await read).toMatchObject(everything)
    // The deaf tab still sleeps. Queued for it, 50,000 events and the large line would be held here, and the line once more for
    // each tab if they did not share it; what is held is bounded by the recent part of the log and the shared frames.
    await sample()
    expect(most).toBeLessThan(BOUND_MIB)

    const woken = report()
    child.send('wake')
    expect(await woken).toMatchObject({ counts: [EVENTS], wrong: [0] })
  } finally {
    child.disconnect()
    await once(child, 'exit')
  }
})
