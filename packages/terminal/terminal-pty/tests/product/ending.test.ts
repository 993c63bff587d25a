// Everything in a terminal ends with it: verified, with who is left by name, without a descriptor that stays.
import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, readFileSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { disposeAndJoin } from '@deepseek-ai/cordis'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import * as terminalPty from '../../src/index.ts'
import { descriptors, isAlive, world, type World } from '../world.ts'

let here: World
beforeEach(async () => {
  here = await world()
})
afterEach(() => here.dispose())

/** A number of seconds that nobody else sleeps for. */
const ownSleep = (): string => String(1_000_000 + Math.floor(Math.random() * 1_000_000))

/** Processes whose command line has this word. */
function pidsOf(word: string): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => {
      try {
        return pid > 0 && pid !== process.pid && readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(word)
      } catch {
        return false // ended meanwhile
      }
    })
    .filter(isAlive)
}

describe('closing a terminal', () => {
  it.each([
    ['a shell at its prompt', 'true'],
    ['a program in front', 'sleep N'],
    ['jobs in the background', 'sleep N & sleep N &'],
    ['a job that ignores the hang-up', 'nohup sleep N >/dev/null 2>&1 &'],
    ['a program that has left the session', 'setsid sleep N & setsid -f sleep N'],
    ['a program that is stopped', `bash -c 'kill -STOP $$; :' N`],
    ['one that hears neither hang-up nor polite signal', `bash -c 'trap "" HUP TERM INT; while :; do sleep 1; done' N`],
    ['a shell that hears no hang-up', `trap '' HUP; sleep N`],
  ])('ends %s', async (_what, command) => {
    const own = ownSleep()
    const terminal = await here.shell()
    await terminal.send({ text: command.replaceAll('N', own), timeoutMs: 400 })
    const { pid } = terminal.row
    const kill = await terminal.close()
    expect(kill).toMatchObject({ signal: expect.stringMatching(/^SIG/), survivors: [] })
    // The shell, at least.
    expect(kill.ended).toBeGreaterThan(0)
    expect([isAlive(pid), pidsOf(own)]).toEqual([false, []])
    expect(terminal.row.status.kind).toBe('exited')
    expect(await terminal.close()).toBe(kill)
  })

  it('ends what a shell left behind that has ended itself', async () => {
    const own = ownSleep()
    const terminal = await here.shell()
    await terminal.send({ text: `nohup sleep ${own} >/dev/null 2>&1 & disown; exit` })
    expect(pidsOf(own)).toHaveLength(1)
    expect(await terminal.close()).toEqual({ signal: 'SIGTERM', ended: 1, survivors: [] })
    expect(pidsOf(own)).toEqual([])
  })

  it('lets a send come back that waits in it', async () => {
    const terminal = await here.shell()
    const typed = new Promise((resolve) => terminal.onData(resolve))
    const sent = terminal.send({ text: 'sleep 1000' })
    await typed
    await terminal.close()
    expect(await sent).toMatchObject({ reason: 'exited' })
  })

  it('comes with the plugin and the host', async () => {
    const own = ownSleep()
    const first = await here.shell()
    await first.send({ text: `sleep ${own} & true` })
    const fiber = Array.from(here.ctx.registry.values())
      .flatMap((runtime) => Array.from(runtime.fibers))
      .find(({ name }) => name === terminalPty.name)
    await disposeAndJoin(fiber!)
    await expect.poll(() => pidsOf(own)).toEqual([])
    await expect(here.open()).rejects.toMatchObject({ code: 'TERMINAL_NO_BACKEND' })
  })
})

describe('a host that is killed', () => {
  /** The built package, by its name, for a process that knows nothing of sources. */
  function modules(folder: string): void {
    const root = fileURLToPath(new URL('../../../..', import.meta.url))
    mkdirSync(join(folder, 'node_modules/@deepseek-ai'), { recursive: true })
    const packages = {
      cordis: 'core/cordis',
      'dsh-terminal': 'terminal/terminal',
      'dsh-terminal-pty': 'terminal/terminal-pty',
    }
    for (const [name, path] of Object.entries(packages)) {
      symlinkSync(join(root, path), join(folder, 'node_modules/@deepseek-ai', name))
    }
  }

  it.each([
    ['a shell and the program in front', 'sleep N'],
    ['what ignores the hang-up', 'nohup sleep N >/dev/null 2>&1 & nohup sleep N'],
    ['what has left the session', 'setsid -f sleep N; setsid sleep N'],
  ])('leaves nothing of %s', async (_what, command) => {
    const own = ownSleep()
    modules(here.folder)
    const file = join(here.folder, 'host.mjs')
    symlinkSync(fileURLToPath(new URL('host.mjs', import.meta.url)), file)
    const host = spawn(
      process.execPath,
      ['--preserve-symlinks-main', file, here.folder, command.replaceAll('N', own)],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    )
    try {
      const shell = await new Promise<number>((resolve) => {
        host.stdout.setEncoding('utf8').on('data', (text: string) => resolve(Number(/ready (\d+)/.exec(text)?.[1])))
      })
      expect([isAlive(shell), pidsOf(own).length > 0]).toEqual([true, true])
      host.kill('SIGKILL')
      await expect.poll(() => [isAlive(shell), pidsOf(own)], { timeout: 10_000 }).toEqual([false, []])
    } finally {
      host.kill('SIGKILL')
    }
  })
})

describe('descriptors', () => {
  it('of a terminal are its own and nothing else', async () => {
    const others = [await here.shell(), await here.shell()]
    const terminal = await here.shell()
    await terminal.send({ text: 'sleep 1000', timeoutMs: 300 })
    const own = new Set(descriptors(terminal.row.pid))
    expect([...own]).toEqual([expect.stringMatching(/^\/dev\/pts\/\d+$/)])
    for (const other of others) expect(descriptors(other.row.pid)).not.toContain([...own][0])
  })

  it('of terminals are in the reach of no command that the host starts', async () => {
    await here.shell()
    expect(descriptors().filter((each) => /ptmx|pts/.test(each))).toEqual([])
    const seen = execFileSync('ls', ['-l', '/proc/self/fd'], { encoding: 'utf8' })
    expect(seen).not.toMatch(/ptmx|pts/)
  })

  it('are given back by 96 short terminals, failed ones among them', { timeout: 120_000 }, async () => {
    const children = (): string => readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8')
    await (await here.shell()).close()
    // What the first one leaves may still be on its way out: after the others there is no more than that.
    const before = [descriptors().length, children().split(' ').length] as const
    for (let round = 0; round < 12; round++) {
      await Promise.all(
        Array.from({ length: 8 }, async (_, each) => {
          const terminal = await here.open()
          if (each % 4 === 0) await terminal.send({ text: 'exit' })
          if (each % 4 === 1) terminal.write('x'.repeat(1000))
          await here.ctx.terminals.close(undefined, terminal.id)
          await here.open({ cwd: '/nowhere' }).catch(() => {})
        }),
      )
    }
    await expect.poll(() => descriptors().length).toBeLessThanOrEqual(before[0])
    await expect.poll(() => children().split(' ').length).toBeLessThanOrEqual(before[1])
  })
})
