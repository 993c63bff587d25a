// Rows: limits, cancellation, and proof that what was ended is gone.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { ShellTest } from './suite.ts'
import { eventually, isRunning, ownDuration, pidsWith, sleeper, withFolder } from './world.ts'

const IGNORE_TERM = "trap '' TERM; while :; do sleep 0.05; done"

export function lifecycleRows(test: ShellTest): void {
  test('ends a command at its limit and keeps what it said', async ({ run }) => {
    const result = await run('echo early; sleep 30; echo late', { timeoutMs: 300 })
    assert.deepEqual([result.timedOut, result.aborted, result.timeoutMs], [true, false, 300])
    assert.equal(result.stdout.text, 'early\n')
    assert.equal(result.kill?.signal, 'SIGTERM')
    assert.deepEqual(result.kill?.survivors, [])
    assert.ok(result.durationMs < 5000, `took ${result.durationMs} ms`)
  })

  test('lets no command of a script run once the limit has passed', async ({ run }) => {
    const results = await Promise.all(
      Array.from({ length: 20 }, () => run('sleep 30; echo late; (sleep 30; echo later) | cat', { timeoutMs: 300 })),
    )
    assert.deepEqual(new Set(results.map(({ stdout }) => stdout.text)), new Set(['']))
  })

  test('keeps both facts of a command that exits 0 on the polite signal', async ({ run }) => {
    const result = await run("trap 'exit 0' TERM; while :; do sleep 0.05; done", { timeoutMs: 300 })
    assert.deepEqual([result.timedOut, result.exitCode, result.signal], [true, 0, null])
  })

  test('forces a command that ignores the polite signal', async ({ run }) => {
    const result = await run(IGNORE_TERM, { timeoutMs: 300 })
    assert.deepEqual([result.timedOut, result.signal, result.kill?.signal], [true, 'SIGKILL', 'SIGKILL'])
    assert.deepEqual(result.kill?.survivors, [])
  })

  test('ends a stopped command without the forced signal', async ({ run }) => {
    const result = await run('kill -STOP $$', { timeoutMs: 300 })
    assert.deepEqual([result.timedOut, result.kill?.signal], [true, 'SIGTERM'])
  })

  test('returns at the limit although a grandchild holds the output', async ({ run }) => {
    const result = await run('(sleep 20; echo alive) & sleep 30', { timeoutMs: 200 })
    assert.equal(result.timedOut, true)
    assert.ok(result.durationMs < 5000, `took ${result.durationMs} ms`)
  })

  test('ends grandchildren whose parents are dead', async ({ run }) => {
    const own = ownDuration()
    const running = run(`(bash -c 'exec sleep ${own}' &) ; sleep 30`, { timeoutMs: 600 })
    await sleeper(own)
    assert.equal((await running).timedOut, true)
    assert.deepEqual(pidsWith(own), [])
  })

  test('ends children that left session and group and ignore the polite signal', async ({ run, leavesRunning }) => {
    const own = ownDuration()
    const stubborn = `trap "" TERM; while :; do sleep ${own}; done`
    const running = run(`setsid bash -c '${stubborn}' & sleep 30`, { timeoutMs: 600 })
    await sleeper(own)
    const { kill } = await running
    assert.deepEqual(kill?.survivors, [])
    if (leavesRunning) assert.equal(kill.signal, 'SIGKILL')
    assert.deepEqual(pidsWith(own), [])
  })

  test('ends children that left session, group and environment', async ({ run }) => {
    const own = ownDuration()
    const running = run(`setsid env -i sleep ${own} & sleep 30`, { timeoutMs: 600 })
    await sleeper(own)
    assert.deepEqual((await running).kill?.survivors, [])
    assert.deepEqual(pidsWith(own), [])
  })

  test('ends every stage of a pipeline', async ({ run }) => {
    const own = ownDuration()
    const running = run(`sleep ${own} | sleep ${own} | sleep ${own}`, { timeoutMs: 600 })
    await eventually('three stages', () => pidsWith(own).length === 3)
    const { kill } = await running
    assert.deepEqual(pidsWith(own), [])
    assert.ok((kill?.ended ?? 0) >= 3, `ended ${kill?.ended}`)
  })

  test('starts nothing when the signal has fired before', async ({ run }) => {
    await withFolder(async (folder) => {
      const file = join(folder, 'ran')
      const result = await run(`touch ${file}`, { signal: AbortSignal.abort() })
      assert.deepEqual([result.aborted, result.timedOut, result.exitCode, result.signal], [true, false, null, null])
      assert.equal(existsSync(file), false)
    })
  })

  test('ends the tree on abort and keeps what it said', async ({ run }) => {
    const own = ownDuration()
    const controller = new AbortController()
    const running = run(`echo early; sleep ${own} & wait`, { signal: controller.signal })
    await sleeper(own)
    controller.abort()
    const result = await running
    assert.deepEqual([result.aborted, result.timedOut], [true, false])
    assert.equal(result.stdout.text, 'early\n')
    assert.deepEqual(pidsWith(own), [])
  })

  test('counts in its receipt exactly what it signalled and what ended', async ({ run, leavesRunning }) => {
    const own = ownDuration()
    const running = run(`sleep ${own} & exec sleep ${own}`, { timeoutMs: 600 })
    await eventually('two sleepers', () => pidsWith(own).length === 2)
    const { kill } = await running
    assert.deepEqual(kill?.survivors, [])
    assert.ok(kill?.signal === 'SIGTERM' || kill?.signal === 'SIGKILL')
    // A runner has processes of its own.
    assert.ok(leavesRunning ? kill.ended === 2 : kill.ended >= 2, `ended ${kill.ended}`)
  })

  test('does not care about an abort after the end', async ({ run }) => {
    const controller = new AbortController()
    const result = await run('echo ok', { signal: controller.signal })
    controller.abort()
    assert.equal(result.aborted, false)
    assert.equal(result.exitCode, 0)
  })

  test('keeps the limit as the cause when an abort follows it', async ({ run }) => {
    const controller = new AbortController()
    const late = "trap 'echo term; sleep 0.2; exit 5' TERM; while :; do sleep 0.05; done"
    const result = await run(late, {
      timeoutMs: 300,
      signal: controller.signal,
      onOutput: ({ text }) => {
        if (text.includes('term')) controller.abort()
      },
    })
    assert.deepEqual([controller.signal.aborted, result.timedOut, result.aborted], [true, true, false])
  })

  test('keeps the abort as the cause when the limit follows it', async ({ run }) => {
    const controller = new AbortController()
    const result = await run(`echo go; ${IGNORE_TERM}`, {
      timeoutMs: 600,
      signal: controller.signal,
      onOutput: () => controller.abort(),
    })
    assert.deepEqual([result.timedOut, result.aborted], [false, true])
  })

  test('ends what runs and what was left running when it is disposed', async ({ run, dispose, leavesRunning }) => {
    const [left, escaped, own] = [ownDuration(), ownDuration(), ownDuration()]
    if (leavesRunning) {
      await run(`sleep ${left} >/dev/null 2>&1 & echo left`)
      await run(`setsid sleep ${escaped} >/dev/null 2>&1 & sleep 0.1`)
      await Promise.all([sleeper(left), sleeper(escaped)])
    }
    const running = run(`trap '' TERM; while :; do sleep ${own}; done`)
    await sleeper(own)
    await dispose()
    assert.deepEqual([left, escaped, own].map(pidsWith), [[], [], []])
    assert.equal((await running).aborted, true)
  })

  test('starts nothing after it was disposed', async ({ shell, dispose }) => {
    const spec = shell.resolve({ command: 'true' })
    await dispose()
    await assert.rejects(shell.run(spec), { code: 'SHELL_DISPOSED' })
  })

  test('runs fifty commands at once without mixing them up', async ({ run }) => {
    const numbers = Array.from({ length: 50 }, (_, index) => index)
    const results = await Promise.all(numbers.map((n) => run(`sleep 0.0$((${n} % 5)); echo ${n}; exit ${n}`)))
    assert.deepEqual(
      results.map(({ stdout, exitCode }) => [stdout.text, exitCode]),
      numbers.map((n) => [`${n}\n`, n]),
    )
  })

  test('keeps concurrent trees apart when one is ended', async ({ run }) => {
    const own = ownDuration()
    const controller = new AbortController()
    const other = run(`exec sleep ${own}`, { signal: controller.signal })
    const pid = await sleeper(own)
    await run('sleep 30', { timeoutMs: 100 })
    assert.equal(isRunning(pid), true)
    controller.abort()
    await other
    assert.deepEqual(pidsWith(own), [])
  })
}
