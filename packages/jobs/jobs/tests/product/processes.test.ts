// Jobs over real processes: what outlives its shell, what prints without end, and that nothing is left when the host ends.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createHost, type Host } from '@deepseek-ai/cordis'
import type { Shell, ShellProcess } from '../../../../shell/shell/src/index.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import BashLocal from '../../../../shell/bash-local/src/index.ts'
import Jobs, { type JobEnd, type JobWork } from '@deepseek-ai/dsh-jobs'

let host: Host
let jobs: Jobs
let cwd: string

beforeEach(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'dsh-jobs-'))
  host = createHost({ logLevel: 'error' })
  await host.ctx.plugin(BashLocal, { graceMs: 200, drainMs: 100 })
  await host.ctx.plugin(Jobs)
  jobs = host.ctx.jobs
})

afterEach(async () => {
  await host.dispose()
  rmSync(cwd, { recursive: true, force: true })
})

async function work(shell: Shell, command: string): Promise<JobWork> {
  const running: ShellProcess = await shell.start(shell.resolve({ command, cwd }))
  running.detach()
  let cursor = 0
  return {
    cancel: () => running.kill(),
    done: running.result.then(({ exitCode, signal, kill }): JobEnd => {
      const detail = signal === null ? `exit code: ${exitCode}` : `signal: ${signal}`
      return { status: signal === null ? 'completed' : 'killed', detail, survivors: kill?.survivors ?? [] }
    }),
    readOutput(maxBytes) {
      const slice = running.read(cursor, Math.floor(maxBytes / 3))
      cursor = slice.cursor
      return { text: slice.text, lossy: slice.lost > 0 }
    },
    peekOutput: (maxBytes) => running.read(Math.max(0, cursor - maxBytes)).text,
  }
}

async function start(command: string): Promise<string> {
  const ready = await work(host.ctx.shell, command)
  return jobs.start({ kind: 'bash', label: command, run: () => ready })
}

const alive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

async function gone(pid: number): Promise<void> {
  for (let tries = 0; alive(pid) && tries < 200; tries++) await delay(10)
  expect(alive(pid)).toBe(false)
}

describe('a job over processes', () => {
  it('tells the end of its shell apart from the end of what the shell left behind', async () => {
    const id = await start('sleep 1000 & echo "pid $!"')
    const row = await jobs.wait(undefined, id, { timeoutMs: 10_000, until: 'end' })
    const pid = Number(/pid (\d+)/.exec(jobs.read(undefined, id).output.text)?.[1])
    expect(row).toMatchObject({ status: 'completed', detail: 'exit code: 0', facts: { ended: true, treeQuiet: false } })
    expect(row.survivors).toMatchObject([{ pid, command: expect.stringContaining('sleep') as string }])
    process.kill(pid, 'SIGKILL')
    await gone(pid)
    expect(jobs.get(undefined, id)?.facts.treeQuiet).toBe(true)
    expect(jobs.get(undefined, id)).not.toHaveProperty('survivors')
  })

  it('stays small however much it prints, says what was dropped, and dies by a kill with its whole tree', async () => {
    const id = await start('sh -c "echo \\$\\$; exec sleep 1000" & read -t 0.2 _ < /dev/zero; yes crash & wait')
    await jobs.wait(undefined, id, { timeoutMs: 10_000 })
    const first = jobs.read(undefined, id).output.text
    expect(Buffer.byteLength(first)).toBeLessThanOrEqual(32_768)
    const before = process.memoryUsage().rss
    for (let lossy = false; !lossy;) {
      await delay(20)
      const { output } = jobs.read(undefined, id)
      expect(Buffer.byteLength(output.text)).toBeLessThanOrEqual(32_768)
      lossy = output.lossy
    }
    expect(process.memoryUsage().rss - before).toBeLessThan(256 * 1024 * 1024)
    jobs.kill(undefined, id)
    const row = await jobs.wait(undefined, id, { timeoutMs: 10_000, until: 'end' })
    expect(row).toMatchObject({ status: 'killed', facts: { treeQuiet: true } })
  })

  it('ends with the host: no process is left', async () => {
    const ids = await Promise.all([
      start('echo $$; exec sleep 1000'),
      start('trap "" TERM; echo $$; sleep 1000; sleep 1000'),
    ])
    const pids: number[] = []
    for (const id of ids) {
      await jobs.wait(undefined, id, { timeoutMs: 10_000 })
      pids.push(Number(jobs.read(undefined, id).output.text.trim()))
    }
    expect(pids.map(alive)).toEqual([true, true])
    await host.dispose()
    expect(pids.map(alive)).toEqual([false, false])
  })
})
