// Rows: limits, cancellation, and proof that what was ended is gone.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { ShellTest } from './suite.ts'
import { eventually, isRunning, numberIn, pidIn, withFolder } from './world.ts'

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
    await withFolder(async (folder) => {
      const file = join(folder, 'pid')
      const result = await run(`(bash -c 'echo $$ > ${file}; exec sleep 40' &) ; sleep 30`, { timeoutMs: 500 })
      assert.equal(result.timedOut, true)
      assert.equal(isRunning(numberIn(file)!), false)
    })
  })

  test('ends children that left session and group and ignore the polite signal', async ({ run }) => {
    await withFolder(async (folder) => {
      const file = join(folder, 'pid')
      const escape = `setsid bash -c 'trap "" TERM; echo $$ > ${file}; while :; do sleep 0.05; done' &`
      const result = await run(`${escape} sleep 30`, { timeoutMs: 500 })
      assert.equal(result.kill?.signal, 'SIGKILL')
      assert.deepEqual(result.kill?.survivors, [])
      assert.equal(isRunning(numberIn(file)!), false)
    })
  })

  test('ends every stage of a pipeline', async ({ run }) => {
    await withFolder(async (folder) => {
      const stage = (n: number): string => `bash -c 'echo $$ > ${join(folder, String(n))}; exec sleep 40'`
      await run(`${stage(1)} | ${stage(2)} | ${stage(3)}`, { timeoutMs: 500 })
      for (const n of [1, 2, 3]) assert.equal(isRunning(numberIn(join(folder, String(n)))!), false, `stage ${n}`)
    })
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
    await withFolder(async (folder) => {
      const file = join(folder, 'pid')
      const controller = new AbortController()
      const running = run(`echo early; sleep 40 & echo $! > ${file}; wait`, { signal: controller.signal })
      const pid = await pidIn(file)
      controller.abort()
      const result = await running
      assert.deepEqual([result.aborted, result.timedOut], [true, false])
      assert.equal(result.stdout.text, 'early\n')
      assert.equal(isRunning(pid), false)
    })
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

  test('ends what runs and what was left running when it is disposed', async ({ run, dispose }) => {
    await withFolder(async (folder) => {
      const left = (await run('sleep 40 >/dev/null 2>&1 & echo left')).kill!.survivors[0]!.pid
      const escaped = (await run('setsid sleep 41 >/dev/null 2>&1 & sleep 0.1')).kill!.survivors[0]!.pid
      const file = join(folder, 'pid')
      const running = run(`echo $$ > ${file}; ${IGNORE_TERM}`)
      const pid = await pidIn(file)
      assert.deepEqual([left, escaped, pid].map(isRunning), [true, true, true])
      await dispose()
      assert.deepEqual([left, escaped, pid].map(isRunning), [false, false, false])
      assert.equal((await running).aborted, true)
    })
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
    await withFolder(async (folder) => {
      const file = join(folder, 'pid')
      const controller = new AbortController()
      const other = run(`echo $$ > ${file}; exec sleep 40`, { signal: controller.signal })
      const pid = await pidIn(file)
      await run('sleep 30', { timeoutMs: 100 })
      assert.equal(isRunning(pid), true)
      controller.abort()
      await other
      await eventually('the other command has ended', () => !isRunning(pid))
    })
  })
}
