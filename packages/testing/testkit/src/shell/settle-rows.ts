// Rows: what a command reads, when its call returns, and how its exit is told.
import assert from 'node:assert/strict'
import type { ShellResult } from '@deepseek-ai/dsh-shell'
import type { ShellCase, ShellTest } from './suite.ts'
import { ownDuration, pidsWith } from './world.ts'

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

  test('gives standard input of a foreground program its end, however it is asked for', async ({ run }) => {
    const result = await run('timeout 5 cat; echo "cat $?"; read -r line; echo "read $?"; sort; python3 -')
    assert.equal(result.stdout.text, 'cat 0\nread 1\n')
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

  test('returns when the shell ends although a child holds the output, and names the child', async (shell) => {
    const own = ownDuration()
    const result = await shell.run(`sleep ${own} & echo done`)
    assert.equal(result.stdout.text, 'done\n')
    assert.equal(result.exitCode, 0)
    assert.ok(result.durationMs < 5000, `took ${result.durationMs} ms`)
    assertLeft(shell, result, own)
  })

  test('returns in bounded time although a child goes on talking', async ({ run, leavesRunning }) => {
    const result = await run('(while :; do echo tick; sleep 0.01; done) & sleep 0.05; echo done')
    assert.match(result.stdout.text, /done/)
    assert.ok(result.durationMs < 5000, `took ${result.durationMs} ms`)
    assert.equal((result.kill?.survivors.length ?? 0) >= 1, leavesRunning)
  })

  test('names a child that was left running with its output closed', async (shell) => {
    const own = ownDuration()
    assertLeft(shell, await shell.run(`sleep ${own} >/dev/null 2>&1 & echo $!`), own)
  })

  test('names a child that left session and group', async (shell) => {
    const own = ownDuration()
    assertLeft(shell, await shell.run(`setsid sleep ${own} >/dev/null 2>&1 & sleep 0.1`), own)
  })

  test('names a child that left session, group and environment, by the output that it holds', async (shell) => {
    const own = ownDuration()
    assertLeft(shell, await shell.run(`(setsid env -i sleep ${own} &); sleep 0.005`), own)
  })

  test('names a child that left session, group and environment and holds nothing, seen while the command ran', async (shell) => {
    const own = ownDuration()
    assertLeft(shell, await shell.run(`setsid env -i sleep ${own} >/dev/null 2>&1 & sleep 0.6`), own)
  })
}

/** A child that sleeps goes on and is named with its pid, or has ended with the command that started it. */
function assertLeft({ leavesRunning }: ShellCase, { kill }: ShellResult, own: string): void {
  const alive = pidsWith(own)
  assert.equal(alive.length, leavesRunning ? 1 : 0)
  const survivors = alive.map((pid) => ({ pid, command: `sleep ${own}` }))
  assert.deepEqual(kill, leavesRunning ? { signal: null, ended: 0, survivors } : undefined)
}
