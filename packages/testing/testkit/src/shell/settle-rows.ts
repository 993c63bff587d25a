// Rows: what a command reads, when its call returns, and how its exit is told.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import type { ShellTest } from './suite.ts'
import { isRunning, numberIn, withFolder } from './world.ts'

export function settleRows(test: ShellTest): void {
  test('gives standard input its end at once', async ({ run }) => {
    const result = await run('cat; echo "after $?"')
    assert.equal(result.stdout.text, 'after 0\n')
    assert.equal(result.timedOut, false)
  })

  test('lets a program that asks a question fail instead of wait', async ({ run }) => {
    const result = await run(`python3 -c "input('name? ')"`)
    assert.equal(result.exitCode, 1)
    assert.match(result.stderr.text, /EOFError/)
  })

  test('gives no controlling terminal to prompt on', async ({ run }) => {
    const result = await run('exec 3<>/dev/tty')
    assert.notEqual(result.exitCode, 0)
  })

  test('passes stdin that was given, and its end', async ({ run }) => {
    const text = 'a line\n'.repeat(20_000)
    const result = await run('wc -c', { stdin: text })
    assert.equal(Number(result.stdout.text), text.length)
  })

  test('ignores that a command does not read what it was given', async ({ run }) => {
    const result = await run('exec <&-; echo ok', { stdin: 'x'.repeat(1_000_000) })
    assert.equal(result.stdout.text, 'ok\n')
    assert.equal(result.exitCode, 0)
  })

  test('tells exit code and signal apart', async ({ run }) => {
    const failed = await run('exit 3')
    assert.deepEqual([failed.exitCode, failed.signal], [3, null])
    const killed = await run('kill -KILL $$')
    assert.deepEqual([killed.exitCode, killed.signal], [null, 'SIGKILL'])
    const missing = await run('no-such-program-anywhere')
    assert.equal(missing.exitCode, 127)
  })

  test('reports a syntax error as a result', async ({ run }) => {
    const result = await run('ls -l |')
    assert.equal(result.exitCode, 2)
    assert.match(result.stderr.text, /syntax error/)
  })

  test('has no kill receipt when everything ended by itself', async ({ run }) => {
    const result = await run('(echo a; sleep 0.01) | cat; (true) & wait')
    assert.equal('kill' in result, false)
  })

  test('captures all of a command that ends in milliseconds', async ({ run }) => {
    for (let i = 0; i < 20; i++) assert.equal((await run('printf "%s" all-of-it')).stdout.text, 'all-of-it')
  })

  test('returns when the shell ends although a child holds the output, and names the child', async ({ run }) => {
    const result = await run('sleep 30 & echo done')
    assert.equal(result.stdout.text, 'done\n')
    assert.equal(result.exitCode, 0)
    assert.ok(result.durationMs < 5000, `took ${result.durationMs} ms`)
    assert.equal(result.kill?.signal, null)
    assert.deepEqual(
      result.kill?.survivors.map(({ command }) => command),
      ['sleep 30'],
    )
    assert.ok(isRunning(result.kill.survivors[0]!.pid), 'the child was left running')
  })

  test('returns in bounded time although a child goes on talking', async ({ run }) => {
    const result = await run('(while :; do echo tick; sleep 0.01; done) & echo done')
    assert.match(result.stdout.text, /done/)
    assert.ok(result.durationMs < 5000, `took ${result.durationMs} ms`)
    assert.ok(result.kill!.survivors.length >= 1)
  })

  test('names a child that was left running with its output closed', async ({ run }) => {
    const result = await run('sleep 31 >/dev/null 2>&1 & echo $!')
    const pid = Number(result.stdout.text)
    assert.deepEqual(result.kill, { signal: null, ended: 0, survivors: [{ pid, command: 'sleep 31' }] })
  })

  test('names a child that left session and group', async ({ run }) => {
    await withFolder(async (folder) => {
      const file = join(folder, 'pid')
      const result = await run(
        `setsid bash -c 'echo $$ > ${file}; exec sleep 32' >/dev/null 2>&1 & until [ -s ${file} ]; do sleep 0.01; done`,
      )
      assert.deepEqual(
        result.kill?.survivors.map(({ pid }) => pid),
        [numberIn(file)],
      )
    })
  })
}
