// Both ways of looking at processes, where the machine has them, against children that this test starts.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { afterEach, describe, expect, it } from 'vitest'
import { linuxTable, psTable } from '../../src/executor/process-table.ts'

interface Sleeper {
  pid: number
  end(): Promise<void>
}

const sleepers: Sleeper[] = []

function start(seconds: string, env: Record<string, string> = {}): Sleeper {
  const child = spawn('sleep', [seconds], { detached: true, stdio: 'ignore', env: { ...process.env, ...env } })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const end = (): Promise<void> => {
    child.kill('SIGKILL')
    return exited
  }
  const sleeper = { pid: child.pid ?? 0, end }
  sleepers.push(sleeper)
  return sleeper
}

afterEach(async () => {
  await Promise.all(sleepers.splice(0).map((sleeper) => sleeper.end()))
})

const tables = [
  { name: '/proc', table: linuxTable, present: process.platform === 'linux' },
  { name: 'ps', table: psTable, present: existsSync('/bin/ps') || existsSync('/usr/bin/ps') },
]

for (const { name, table, present } of tables) {
  describe.skipIf(!present)(`the process table from ${name}`, () => {
    it('shows a process with parent, group and command', async () => {
      const child = start('300')
      const entry = (await table.list()).find(({ pid }) => pid === child.pid)
      expect(entry).toMatchObject({ ppid: process.pid, pgid: child.pid })
      expect(entry?.command()).toBe('sleep 300')
    })

    it('tells the living from the ended', async () => {
      const [stays, goes] = [start('301'), start('302')]
      const entries = (await table.list()).filter(({ pid }) => pid === stays.pid || pid === goes.pid)
      expect(entries).toHaveLength(2)
      await goes.end()
      expect((await table.alive(entries)).map(({ pid }) => pid)).toEqual([stays.pid])
    })

    it('does not take a later process with the same pid for the earlier one', async () => {
      const child = start('303')
      const entry = (await table.list()).find(({ pid }) => pid === child.pid)!
      expect(await table.alive([{ ...entry, startTime: 'earlier' }])).toEqual([])
    })
  })
}

describe.skipIf(process.platform !== 'linux')('/proc', () => {
  it('recognises an inherited mark', async () => {
    const child = start('304', { TESTKIT_MARK: 'yes' })
    const entry = (await linuxTable.list()).find(({ pid }) => pid === child.pid)!
    expect([entry.hasEnvironment('TESTKIT_MARK=yes'), entry.hasEnvironment('TESTKIT_MARK=no')]).toEqual([true, false])
  })

  it('lists what was started after a process', () => {
    const [first, second] = [start('305'), start('306')]
    const later = linuxTable.startedSince(first.pid)?.map(({ pid }) => pid)
    expect(later).toContain(second.pid)
    expect(later).not.toContain(first.pid)
  })
})
