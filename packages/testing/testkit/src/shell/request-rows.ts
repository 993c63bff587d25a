// Rows: defaults and caps, folders, and requests that cannot work.
import assert from 'node:assert/strict'
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ShellTest } from './suite.ts'
import { withFolder } from './world.ts'

export function requestRows(test: ShellTest): void {
  test('resolves every default and cap before it runs', async ({ shell }) => {
    const plain = shell.resolve({ command: 'true' })
    assert.ok(plain.timeoutMs > 0 && plain.maxOutputBytes > 0 && plain.workdir.startsWith('/'))
    assert.equal(shell.resolve({ command: 'true', timeoutMs: 10 ** 12 }).timeoutMs, 60_000)
    assert.equal(shell.resolve({ command: 'true', timeoutMs: 5 }).timeoutMs, 5)
  })

  test('refuses a limit that is none, and a blank command', async ({ shell }) => {
    for (const timeoutMs of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
      assert.throws(() => shell.resolve({ command: 'true', timeoutMs }), { code: 'SHELL_INVALID_REQUEST' })
    }
    assert.throws(() => shell.resolve({ command: ' \n' }), { code: 'SHELL_INVALID_REQUEST' })
  })

  test('runs in the folder that was asked for', async ({ run }) => {
    await withFolder(async (folder) => {
      mkdirSync(join(folder, 'sub folder'))
      assert.equal((await run('pwd', { workdir: folder })).stdout.text, `${folder}\n`)
      const below = await run('pwd', { workdir: 'sub folder', cwd: folder })
      assert.equal(below.stdout.text, `${join(folder, 'sub folder')}\n`)
      assert.equal(below.workdir, join(folder, 'sub folder'))
    })
  })

  test('calls a folder by the name it was asked for, links included', async ({ run }) => {
    await withFolder(async (folder) => {
      mkdirSync(join(folder, 'real'))
      symlinkSync('real', join(folder, 'link'))
      assert.equal((await run('pwd', { workdir: join(folder, 'link') })).stdout.text, `${join(folder, 'link')}\n`)
    })
  })

  test('refuses a folder that is missing or no folder, and names it', async ({ shell }) => {
    await withFolder(async (folder) => {
      const missing = join(folder, 'gone')
      const file = join(folder, 'file')
      writeFileSync(file, '')
      for (const workdir of [missing, file]) {
        assert.throws(
          () => shell.resolve({ command: 'true', workdir }),
          (error: Error & { code?: string }) =>
            error.code === 'SHELL_WORKDIR_UNUSABLE' && error.message.includes(workdir),
        )
      }
    })
  })

  test('stands in for a default folder that was deleted, and says so', async ({ run }) => {
    await withFolder(async (folder) => {
      const cwd = join(folder, 'a', 'b')
      mkdirSync(cwd, { recursive: true })
      rmSync(join(folder, 'a'), { recursive: true })
      const result = await run('pwd', { cwd })
      assert.deepEqual([result.exitCode, result.workdir, result.stdout.text], [0, folder, `${folder}\n`])
    })
  })

  test('rejects when the folder vanishes between resolve and run', async ({ shell }) => {
    await withFolder(async (folder) => {
      const workdir = join(folder, 'brief')
      mkdirSync(workdir)
      const spec = shell.resolve({ command: 'true', workdir })
      rmSync(workdir, { recursive: true })
      await assert.rejects(shell.run(spec), { code: 'SHELL_WORKDIR_UNUSABLE' })
    })
  })

  test('rejects what no program can be given, with the remedy', async ({ run }) => {
    await assert.rejects(run('echo a\0b'), { code: 'SHELL_SPAWN_FAILED', message: /NUL/ })
    await assert.rejects(run(`: ${'x'.repeat(300_000)}`), {
      code: 'SHELL_SPAWN_FAILED',
      message: /write the script to a file/,
    })
  })
}
