// Rows: what is left of a host's commands when the host dies without a chance to clean up. Needs a host in a process of its own.
import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { SuiteRunner } from './suite.ts'
import { eventually, ownDuration, pidsWith, sleeper, withFolder } from './world.ts'

interface HostModule {
  module: string
  factory: string
}

/** Boots the provider in a process of its own and starts `commands` at once. It goes on until it is told to end. */
function boot({ module, factory }: HostModule, commands: readonly string[], folder: string): ChildProcess {
  const program = `
    const { ${factory}: factory } = await import(${JSON.stringify(module)})
    const { shell, dispose } = await factory()
    for (const command of ${JSON.stringify(commands)}) void shell.run(shell.resolve({ command }))
    setInterval(() => {}, 1000)
    process.on('SIGTERM', async () => { await dispose(); process.exit(0) })
    process.stdout.write('ready')`
  return spawn(process.execPath, ['--input-type=module', '--eval', program], {
    cwd: folder,
    detached: true, // a group of its own, as a terminal would give it
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

async function withHost(
  host: HostModule,
  commands: readonly string[],
  use: (child: ChildProcess) => Promise<void>,
): Promise<void> {
  await withFolder(async (folder) => {
    const child = boot(host, commands, folder)
    try {
      await use(child)
    } finally {
      child.kill('SIGKILL')
    }
  })
}

/** Processes of `host` that are in a session of their own and run no command: what stands guard. */
function guardsOf(host: number): number[] {
  return pidsWith('dsh-shell-watchdog').filter((pid) => parentOf(pid) === host)
}

function parentOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
}

export function hostRows(it: SuiteRunner['it'], host: HostModule): void {
  it('leaves nothing of a host that is killed, escapees and the deaf to polite signals included', async () => {
    const own = ownDuration()
    const commands = [
      `sleep ${own}`,
      `trap '' TERM; while :; do sleep ${own}; done`,
      `setsid sleep ${own} & wait`,
      `(bash -c 'sleep ${own} & wait' &) ; sleep ${own}`,
      `exec env -i sleep ${own}`,
      `setsid env -i sleep ${own} & wait`,
    ]
    await withHost(host, commands, async (child) => {
      await eventually('all of them sleep', () => pidsWith(own).length === 7)
      // What has run for a moment has been announced to whoever stands guard.
      await eventually('somebody has slept for a moment', () => ageOf(pidsWith(own)) > 0.3)
      child.kill('SIGKILL')
      await eventually('none of them sleeps', () => pidsWith(own).length === 0, 20_000)
    })
  })

  it('leaves nothing of a host that exits without a word', async () => {
    const own = ownDuration()
    await withHost(host, [`sleep ${own}`], async (child) => {
      await sleeper(own)
      child.kill('SIGHUP')
      await eventually('it no longer sleeps', () => pidsWith(own).length === 0, 20_000)
    })
  })

  it("outlives the signals that a terminal sends to the host's group, and ends nothing before the host does", async () => {
    const own = ownDuration()
    await withHost(host, [`sleep ${own}`], async (child) => {
      await sleeper(own)
      const guards = guardsOf(child.pid!)
      // A host that ignores the interrupt keeps its commands.
      process.kill(-child.pid!, 'SIGWINCH')
      for (const guard of guards) {
        for (const signal of ['SIGINT', 'SIGHUP', 'SIGTERM'] as const) process.kill(guard, signal)
      }
      assert.equal(pidsWith(own).length, 1)
      child.kill('SIGKILL')
      await eventually('it no longer sleeps', () => pidsWith(own).length === 0, 20_000)
    })
  })

  it('has nobody standing guard once the host has ended in order', async () => {
    const own = ownDuration()
    await withHost(host, [`sleep ${own}`], async (child) => {
      await sleeper(own)
      const guards = guardsOf(child.pid!)
      const ended = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGTERM')
      assert.equal(await ended, 0)
      assert.deepEqual(pidsWith(own), [])
      const left = pidsWith('dsh-shell-watchdog').filter((pid) => guards.includes(pid))
      assert.deepEqual(left, [])
    })
  })
}

/** Seconds that the youngest of them has run. */
function ageOf(pids: readonly number[]): number {
  const uptime = Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0])
  const ages = pids.map((pid) => {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return uptime - Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]) / 100
  })
  return Math.min(...ages)
}
