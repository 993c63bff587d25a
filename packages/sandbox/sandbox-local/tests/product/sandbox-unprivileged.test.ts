// The same contract as an ordinary user: a runner started by root keeps other things from root than from others.
import { execFile, spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { expect, it } from 'vitest'

const NOBODY = { uid: 65_534, gid: 65_534 }
const root = resolve(import.meta.dirname, '../../../../..')
const vitest = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs')

const whyNot = (): string | undefined => {
  if (process.getuid?.() !== 0) return 'the other file ran as an ordinary user'
  const reads = spawnSync(
    process.execPath,
    ['-e', `require('node:fs').readFileSync(${JSON.stringify(vitest)})`],
    NOBODY,
  )
  return reads.status === 0 ? undefined : 'the sources are not readable for nobody'
}

const reason = whyNot()
const test = reason === undefined ? it : it.skip

test(
  `keeps the whole contract as nobody${reason === undefined ? '' : ` (${reason})`}`,
  { timeout: 120_000 },
  async () => {
    const { PATH } = process.env
    const file = 'packages/sandbox/sandbox-local/tests/product/sandbox.test.ts'
    // Another loader would write next to the configuration, where nobody may not.
    const args = [vitest, 'run', '--configLoader', 'runner', '--project', 'product', '--no-cache', '--no-color', file]
    const options = { ...NOBODY, cwd: root, env: { PATH, HOME: '/nonexistent' }, timeout: 110_000, maxBuffer: 2 ** 24 }
    const said = await new Promise<string>((done) => {
      execFile(process.execPath, args, options, (error, stdout, stderr) =>
        done(error ? `${stdout}\n${stderr}\nfailed` : stdout),
      )
    })
    expect(said).toMatch(/Tests\s+\d+ passed/)
    expect(said).not.toMatch(/\d failed/)
  },
)
