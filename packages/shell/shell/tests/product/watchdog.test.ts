// The watchdog on its own: what it ends when its pipe ends, and what it leaves alone.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { linuxTable } from '../../src/executor/process-table.ts'
import { Watchdog } from '../../src/executor/watchdog.ts'

const cleanups: (() => void)[] = []
afterEach(() => cleanups.splice(0).forEach((cleanup) => cleanup()))

function sleeper(env: Record<string, string> = {}): { pid: number } {
  const child = spawn('sleep', ['70'], {
    detached: true,
    stdio: 'ignore',
    env: { PATH: process.env.PATH ?? '', ...env },
  })
  cleanups.push(() => void child.kill('SIGKILL'))
  return { pid: child.pid! }
}

const isAlive = (pid: number): boolean => linuxTable.startTimeOf(pid) !== undefined

/** Waits until so many guards are in its pipe, which it reads to the end whatever happens to the host. */
async function told(watchdog: Watchdog, guards: number): Promise<void> {
  await vi.waitFor(() => expect(watchdog.announced).toBe(guards), { timeout: 5000 })
}

/** What the death of the host looks like to it. */
async function hostDies(watchdog: Watchdog): Promise<void> {
  const pid = watchdog.pid!
  watchdog.hangUp()
  await vi.waitFor(() => expect(isAlive(pid)).toBe(false), { timeout: 15_000 })
}

describe.each(['proc', 'ps'] as const)('the watchdog, reading processes from %s', (source) => {
  it('ends guarded groups, guarded processes and nothing else', async () => {
    const watchdog = new Watchdog({ markPrefix: `DSH_TEST=${source}-`, graceMs: 200, source })
    const [leader, single, released, stranger] = [sleeper(), sleeper(), sleeper(), sleeper()]
    const owner = {}
    watchdog.start()
    watchdog.guard({}, 'leader', leader.pid)
    watchdog.guard({}, 'single', single.pid)
    watchdog.guard(owner, 'leader', released.pid)
    await told(watchdog, 3)
    watchdog.release(owner)
    await hostDies(watchdog)
    expect([leader, single, released, stranger].map(({ pid }) => isAlive(pid))).toEqual([false, false, true, true])
  })

  it('leaves a number alone that was given to somebody else since', async () => {
    const watchdog = new Watchdog({ markPrefix: `DSH_TEST=${source}-`, graceMs: 200, source })
    const stranger = sleeper()
    watchdog.start()
    watchdog.guard({}, 'leader', stranger.pid, '12345')
    watchdog.guard({}, 'single', stranger.pid, '12345')
    await told(watchdog, 2)
    await hostDies(watchdog)
    expect(isAlive(stranger.pid)).toBe(true)
  })
})

describe('the watchdog', () => {
  it('ends what carries its mark, and not what carries another', async () => {
    const watchdog = new Watchdog({ markPrefix: 'DSH_TEST=own-', graceMs: 200, source: 'proc' })
    const [own, other] = [sleeper({ DSH_TEST: 'own-1' }), sleeper({ DSH_TEST: 'other-1' })]
    watchdog.start()
    await vi.waitFor(() => expect(readFileSync(`/proc/${own.pid}/environ`, 'utf8')).toContain('own-1'))
    await hostDies(watchdog)
    expect([isAlive(own.pid), isAlive(other.pid)]).toEqual([false, true])
  })

  it('goes without ending anything when it is closed', async () => {
    const watchdog = new Watchdog({ markPrefix: 'DSH_TEST=closed-', graceMs: 200 })
    const guarded = sleeper()
    watchdog.start()
    watchdog.guard({}, 'leader', guarded.pid)
    await told(watchdog, 1)
    const pid = watchdog.pid!
    await watchdog.close()
    expect([isAlive(pid), isAlive(guarded.pid)]).toEqual([false, true])
    watchdog.start()
    expect(watchdog.pid).toBeUndefined()
  })

  it('is replaced when it was killed, and told everything again', async () => {
    const watchdog = new Watchdog({ markPrefix: 'DSH_TEST=again-', graceMs: 200 })
    const guarded = sleeper()
    watchdog.start()
    watchdog.guard({}, 'leader', guarded.pid)
    await told(watchdog, 1)
    process.kill(watchdog.pid!, 'SIGKILL')
    await vi.waitFor(() => expect(watchdog.pid).toBeUndefined())
    watchdog.start()
    await hostDies(watchdog)
    expect(isAlive(guarded.pid)).toBe(false)
  })
})
