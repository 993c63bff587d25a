// Rows: a host that is killed without a chance to clean up, before each call of a write: the file is the old one or the new one, and what
// was staged beside it is gone with the next write.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import fc from 'fast-check'
import { inHost, type HostModule } from './host.ts'
import type { FsRow } from './suite.ts'
import type { FsWorld } from './world.ts'

/**
 * Makes one write and dies before its call number `stop`; 0 counts the calls. Calls that only look are left out: what is on the disk before one of
 * them is what is there before the next.
 */
const STEP = `
  const looks = /^(?:realpath|readlink|readdir|(?:FileHandle.)?(?:l?stat|read)|fstat|exists|access)(?:Sync)?$/
  const target = await fs.resolve(args.path)
  const work = () => args.edits === undefined ? fs.write(target, args.text) : fs.edit(target, args.edits)
  let calls = 0
  await stepped((name) => {
    if (!looks.test(name) && ++calls === args.stop) process.kill(process.pid, 'SIGKILL')
  }, work)
  return calls`

interface Write {
  /** Undefined: there is none. */
  readonly before: string | undefined
  readonly after: string
  readonly edits?: readonly { readonly oldText: string; readonly newText: string }[]
}

const SCENARIOS: Readonly<Record<string, Write>> = {
  creation: { before: undefined, after: 'new\n'.repeat(10) },
  replacement: { before: 'old\n', after: 'new\n'.repeat(10) },
  edit: { before: 'a\nold\nb\n', after: 'a\nnew\nb\n', edits: [{ oldText: 'old', newText: 'new' }] },
}

/** What is in the folder after a kill, and after the next write of anybody. */
async function judge(world: FsWorld, folder: string, { before, after }: Write, where: string): Promise<void> {
  const now = existsSync(world.at(`${folder}/a`)) ? readFileSync(world.at(`${folder}/a`), 'utf8') : undefined
  assert.ok(now === before || now === after, `${where}: ${String(now).slice(0, 60)}`)
  const names = existsSync(world.at(folder)) ? readdirSync(world.at(folder)) : []
  const visible = names.filter((name) => !name.startsWith('.'))
  assert.deepEqual(visible, now === undefined ? [] : ['a'], where)
  await world.write(`${folder}/b`, 'next\n')
  assert.deepEqual(world.names(folder), [...visible, 'b'], `${where}: the next write tidies`)
}

function stepRow(host: HostModule, name: string, write: Write): FsRow {
  return {
    title: `leaves the old or the new file when it is killed before any call of a ${name}`,
    body: async (world) => {
      const attempt = async (stop: number): Promise<number> => {
        const folder = `stop-${stop}`
        if (write.before !== undefined) world.put(`${folder}/a`, write.before)
        const args = { path: world.at(`${folder}/a`), text: write.after, edits: write.edits, stop }
        const { signal, value, message } = await inHost(host, { script: STEP, args })
        assert.deepEqual([signal, typeof value], stop === 0 ? [null, 'number'] : ['SIGKILL', 'undefined'], message)
        await judge(world, folder, write, `before call ${stop}`)
        return Number(value)
      }
      const calls = await attempt(0)
      assert.ok(calls > 5, `${calls} calls`)
      // Two at a time: starting a process is what it takes.
      for (let stop = 1; stop <= calls; stop += 2) {
        await Promise.all([stop, stop + 1].filter((each) => each <= calls).map(attempt))
      }
    },
  }
}

export function crashRows(host: HostModule): FsRow[] {
  return [
    ...Object.entries(SCENARIOS).map(([name, write]) => stepRow(host, name, write)),
    {
      title: 'leaves the old or the new file whatever its content and wherever it is killed',
      body: async (world) => {
        let round = 0
        const text = fc.string({ unit: 'grapheme', maxLength: 2000 })
        await fc.assert(
          fc.asyncProperty(fc.option(text, { nil: undefined }), text, fc.nat(12), async (before, after, stop) => {
            const folder = `round-${++round}`
            if (before !== undefined) world.put(`${folder}/a`, before)
            await inHost(host, { script: STEP, args: { path: world.at(`${folder}/a`), text: after, stop: stop + 1 } })
            await judge(world, folder, { before, after }, `before call ${stop + 1}`)
          }),
          { numRuns: 12 },
        )
      },
    },
    {
      title: 'leaves one of its texts when it is killed at any time between large writes',
      body: async (world) => {
        const texts = ['one\n', 'two\n'].map((each) => each.repeat(1_000_000))
        const script = `
          const target = await fs.resolve(args.path)
          const texts = ['one\\n', 'two\\n'].map((each) => each.repeat(1_000_000))
          await fs.write(target, texts[0])
          setTimeout(() => process.kill(process.pid, 'SIGKILL'), args.after)
          for (let round = 1; ; round++) await fs.write(target, texts[round % 2])`
        for (const after of [3, 12, 20, 40]) {
          const path = world.put(`after-${after}/a`, 'old\n')
          const { signal, message } = await inHost(host, { script, args: { path, after } })
          assert.equal(signal, 'SIGKILL', message)
          assert.ok(texts.includes(world.text(`after-${after}/a`)), `torn after ${after} ms`)
        }
      },
    },
    {
      title: 'leaves the old or the new file when it is killed before any of its system calls (strace)',
      skip: () => (canTrace() ? undefined : 'no strace that may trace'),
      body: async (world) => {
        const scenarios: [Write, string[]][] = [
          [{ before: 'old\n', after: 'new\n' }, ['pwrite64', 'fchmod', 'fsync', '/^rename']],
          [{ before: undefined, after: 'new\n' }, ['/^link', '/^unlink']],
        ]
        for (const [write, calls] of scenarios) {
          for (const call of calls) {
            const kills = await killedAt(world, host, write, call)
            assert.ok(kills > 0, `${call} was never called`)
          }
        }
      },
    },
  ]
}

/** Kills at the first, the second … system call of a name until there is none. Gives how many there were. */
async function killedAt(world: FsWorld, host: HostModule, write: Write, call: string): Promise<number> {
  for (let when = 1; ; when++) {
    const folder = `${call.replace(/\W/g, '')}-${when}`
    if (write.before !== undefined) world.put(`${folder}/a`, write.before)
    else world.clear(folder)
    // Calls are counted by thread: there is to be one.
    const wrap = ['env', 'UV_THREADPOOL_SIZE=1', 'strace', '-f', '-qq', '-o', '/dev/null', '-e', `trace=${call}`]
    wrap.push('-e', `inject=${call}:signal=SIGKILL:when=${when}`)
    const script = 'await fs.write(await fs.resolve(args.path), args.text)'
    const args = { path: world.at(`${folder}/a`), text: write.after }
    const { signal } = await inHost(host, { script, args, wrap })
    await judge(world, folder, write, `before ${call} ${when}`)
    if (signal === null) return when - 1
  }
}

function canTrace(): boolean {
  return spawnSync('strace', ['-f', '-qq', '-o', '/dev/null', 'true'], { stdio: 'ignore' }).status === 0
}
