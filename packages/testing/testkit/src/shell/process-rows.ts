// Rows: a command that runs, as jobs hold it: read with a cursor, freed from its limit, ended on request.
import assert from 'node:assert/strict'
import type { ShellProcess, ShellRequest } from '@deepseek-ai/dsh-shell'
import type { ShellCase, ShellTest } from './suite.ts'
import { eventually, ownDuration, pidsWith, sleeper, withFolder } from './world.ts'

function start({ shell }: ShellCase, command: string, more: Partial<ShellRequest> = {}): Promise<ShellProcess> {
  return shell.start(shell.resolve({ command, ...more }))
}

export function processRows(test: ShellTest): void {
  test('gives the result that run would have given', async (shell) => {
    const process = await start(shell, 'echo out; echo err >&2; exit 3')
    const result = await process.result
    assert.ok(process.pid > 0)
    assert.deepEqual([result.exitCode, result.stdout.text, result.stderr.text], [3, 'out\n', 'err\n'])
  })

  test('reads output while the command runs, from a cursor, consuming nothing', async (shell) => {
    await withFolder(async (folder) => {
      const go = `${folder}/go`
      const process = await start(shell, `echo one; until [ -e ${go} ]; do sleep 0.01; done; echo two >&2`)
      await eventually('the first line', () => process.read(0).text === 'one\n')
      const { cursor } = process.read(0)
      await shell.run(`touch ${go}`)
      await process.result
      assert.deepEqual(process.read(cursor), { text: 'two\n', cursor: 8, lost: 0 })
      assert.equal(process.read(0).text, 'one\ntwo\n')
      assert.deepEqual(process.read(0, 2), { text: 'on', cursor: 2, lost: 0 })
    })
  })

  test('holds at least the last 64 KiB and tells what is lost', async (shell) => {
    const process = await start(shell, 'head -c 3000000 /dev/zero | tr "\\0" x')
    await process.result
    const { text, cursor, lost } = process.read(0)
    assert.equal(cursor, 3_000_000)
    assert.equal(lost + text.length, 3_000_000)
    assert.ok(text.length >= 65_536 && text.length < 1_000_000, `${text.length} are held`)
  })

  test("frees a detached command from its limit and from its caller's signal", async (shell) => {
    await withFolder(async (folder) => {
      const controller = new AbortController()
      const go = `${folder}/go`
      const command = `until [ -e ${go} ]; do sleep 0.01; done; echo free`
      const process = await start(shell, command, { timeoutMs: 300, signal: controller.signal })
      process.detach()
      controller.abort()
      await shell.run('sleep 0.5')
      await shell.run(`touch ${go}`)
      const result = await process.result
      assert.deepEqual([result.aborted, result.timedOut, result.stdout.text], [false, false, 'free\n'])
    })
  })

  test('ends a detached command on request, with a receipt', async (shell) => {
    const own = ownDuration()
    const process = await start(shell, `sleep ${own}`)
    process.detach()
    await sleeper(own)
    process.kill()
    process.kill()
    const result = await process.result
    assert.deepEqual([result.aborted, result.timedOut], [true, false])
    assert.deepEqual(result.kill?.survivors, [])
    assert.ok(result.kill.ended >= 1)
    assert.deepEqual(pidsWith(own), [])
  })

  test('does not care about a kill after the end', async (shell) => {
    const process = await start(shell, 'echo ok')
    await process.result
    process.kill()
    process.detach()
    const result = await process.result
    assert.deepEqual([result.aborted, result.exitCode, 'kill' in result], [false, 0, false])
  })

  test('ends a detached command when it is disposed', async (shell) => {
    const own = ownDuration()
    const process = await start(shell, `sleep ${own}`)
    process.detach()
    await sleeper(own)
    await shell.dispose()
    assert.deepEqual(pidsWith(own), [])
    assert.equal((await process.result).aborted, true)
  })

  test('starts nothing when the signal has fired before, and says so', async (shell) => {
    const process = await start(shell, 'true', { signal: AbortSignal.abort() })
    assert.deepEqual([process.pid, (await process.result).aborted, process.read(0).text], [0, true, ''])
  })
}
