// Rows: streams that outgrow memory go to a file whole, and the result says where and whether all of it is there.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { ShellSpillFile } from '@deepseek-ai/dsh-shell'
import type { ShellTest } from './suite.ts'
import { withFolder } from './world.ts'

/** A file that takes at most `quota` bytes. */
function spillTo(path: string, quota = Number.POSITIVE_INFINITY): ShellSpillFile {
  const file = openSync(path, 'w')
  let bytes = 0
  let complete = true
  return {
    path,
    write(chunk) {
      const room = Math.max(0, quota - bytes)
      complete &&= chunk.length <= room
      bytes += writeSync(file, chunk.subarray(0, room))
    },
    finish() {
      closeSync(file)
      return { path, bytes, complete }
    },
  }
}

export function spillRows(test: ShellTest): void {
  test('opens no file for a stream that memory holds', async ({ run }) => {
    const opened: string[] = []
    const { stdout } = await run('head -c 65536 /dev/zero', {
      spill: (stream) => {
        opened.push(stream)
        throw new Error('not expected')
      },
    })
    assert.deepEqual([opened, stdout.truncated, 'spillPath' in stdout], [[], false, false])
  })

  test('writes every byte from the first on, each stream to its own file', async ({ run }) => {
    await withFolder(async (folder) => {
      const result = await run('seq 1 200000; seq 1 100000 >&2', { spill: (stream) => spillTo(join(folder, stream)) })
      assert.deepEqual(
        [result.stdout.spillPath, result.stderr.spillPath],
        [join(folder, 'stdout'), join(folder, 'stderr')],
      )
      assert.equal('spillIncomplete' in result.stdout, false)
      const numbers = (last: number): string => Array.from({ length: last }, (_, index) => `${index + 1}\n`).join('')
      assert.equal(readFileSync(join(folder, 'stdout'), 'latin1'), numbers(200_000))
      assert.equal(readFileSync(join(folder, 'stderr'), 'latin1'), numbers(100_000))
    })
  })

  test('keeps the bytes as they came, whatever they mean', async ({ run }) => {
    await withFolder(async (folder) => {
      const command = 'f=$(mktemp); head -c 3000000 /dev/urandom > "$f"; cat "$f"; sha256sum < "$f" >&2; rm "$f"'
      const { stdout, stderr } = await run(command, { spill: (stream) => spillTo(join(folder, stream)) })
      const hash = createHash('sha256').update(readFileSync(stdout.spillPath!)).digest('hex')
      assert.equal(stderr.text.slice(0, 64), hash)
    })
  })

  test('says so when the file does not hold all', async ({ run }) => {
    await withFolder(async (folder) => {
      const { stdout } = await run('seq 1 200000', { spill: (stream) => spillTo(join(folder, stream), 100_000) })
      assert.deepEqual([stdout.truncated, stdout.spillIncomplete], [true, true])
      assert.equal(readFileSync(stdout.spillPath!).length, 100_000)
    })
  })

  test('goes on without a file that cannot be opened', async ({ run }) => {
    const { stdout, exitCode } = await run('seq 1 200000', {
      spill: () => {
        throw new Error('no room')
      },
    })
    assert.deepEqual([exitCode, stdout.truncated, 'spillPath' in stdout], [0, true, false])
  })

  test('has the output of a command that was killed', async ({ run }) => {
    await withFolder(async (folder) => {
      const spill = (stream: string): ShellSpillFile => spillTo(join(folder, stream))
      const { stdout, timedOut } = await run('seq 1 200000; sleep 30', { timeoutMs: 1500, spill })
      assert.equal(timedOut, true)
      assert.ok(readFileSync(stdout.spillPath!, 'latin1').endsWith('\n199999\n200000\n'))
    })
  })
}
