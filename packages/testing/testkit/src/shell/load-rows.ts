// Rows: much output, many commands. Time is bounded generously, memory and what is left behind are not.
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import type { ShellTest } from './suite.ts'
import { eventually } from './world.ts'

const MEGABYTE = 1024 * 1024

/** The most memory that output took meanwhile, in bytes: buffers and heap, over what was there before. */
async function peakOf(work: () => Promise<unknown>): Promise<number> {
  const used = (): number => {
    const { arrayBuffers, heapUsed } = process.memoryUsage()
    return arrayBuffers + heapUsed
  }
  const before = used()
  let peak = before
  const timer = setInterval(() => (peak = Math.max(peak, used())), 5)
  try {
    await work()
  } finally {
    clearInterval(timer)
  }
  return Math.max(peak, used()) - before
}

/** How many of each: descriptors, listeners of the process, timers and handles. */
type Held = Record<string, number>

function held(): Held {
  const counts: Held = {
    descriptors: readdirSync('/proc/self/fd').length,
    listeners: process.eventNames().reduce((sum, event) => sum + process.listenerCount(event), 0),
  }
  for (const name of process.getActiveResourcesInfo()) {
    if (name.endsWith('Wrap') || name === 'Timeout') counts[name] = (counts[name] ?? 0) + 1
  }
  return counts
}

/** Fewer is no leak: what tests before this one held may end meanwhile. */
function exceeding(before: Held): string[] {
  return Object.entries(held())
    .filter(([name, count]) => count > (before[name] ?? 0))
    .map(([name, count]) => `${name}: ${before[name] ?? 0}, then ${count}`)
}

/** Handles of the last command close a turn or two of the event loop after its result. */
async function settledTo(before: Held): Promise<void> {
  await eventually('nothing is held', () => exceeding(before).length === 0, 5000).catch(() => {
    assert.deepEqual(exceeding(before), [])
  })
}

export function loadRows(test: ShellTest, endurance: boolean): void {
  test('takes a gigabyte in bounded memory and time', async ({ run }) => {
    const peak = await peakOf(async () => {
      const { stdout, durationMs } = await run('head -c 1000000000 /dev/zero', { timeoutMs: 50_000 })
      assert.equal(stdout.totalBytes, 1_000_000_000)
      assert.ok(stdout.text.length < 66_000)
      assert.ok(durationMs < 40_000, `took ${durationMs} ms`)
    })
    assert.ok(peak < 200 * MEGABYTE, `took ${Math.round(peak / MEGABYTE)} MB`)
  })

  test('takes one line of 200 MB, that a listener hears whole', async ({ run }) => {
    let heard = 0
    const peak = await peakOf(async () => {
      const { stdout, timedOut } = await run(`head -c 200000000 /dev/zero | tr '\\0' y; echo end`, {
        timeoutMs: 50_000,
        onOutput: ({ text }) => (heard += text.length),
      })
      assert.deepEqual([timedOut, stdout.totalBytes], [false, 200_000_004])
      assert.ok(stdout.text.endsWith('yyyend\n'))
    })
    assert.equal(heard, 200_000_004)
    assert.ok(peak < 250 * MEGABYTE, `took ${Math.round(peak / MEGABYTE)} MB`)
  })

  test('leaks no descriptor, timer or listener over commands that end in every way', async ({ run }) => {
    const { signal } = new AbortController()
    const each = (): Promise<unknown>[] => [
      run('echo a; exit 1', { signal, onOutput: () => {} }),
      run('sleep 30', { signal, timeoutMs: 20 }),
      run('kill -KILL $$', { signal }),
      run('cat', { signal, stdin: 'x' }),
      run('true', { signal: AbortSignal.abort() }),
    ]
    await Promise.all(each())
    await run('true')
    await eventually('the first commands are gone', () => held()['ProcessWrap'] === undefined)
    const before = held()
    for (let round = 0; round < 10; round++) await Promise.all(each())
    await settledTo(before)
  })

  if (!endurance) return
  test('leaks nothing over ten thousand commands in a row', async ({ run }) => {
    const { signal } = new AbortController()
    const warnings: Error[] = []
    const onWarning = (warning: Error): void => void warnings.push(warning)
    await run('true', { signal })
    await eventually('the first command is gone', () => held()['ProcessWrap'] === undefined)
    const before = held()
    process.on('warning', onWarning)
    try {
      for (let i = 0; i < 10_000; i++) {
        const { exitCode } = await run(`exit ${i % 7}`, { signal })
        if (exitCode !== i % 7) throw new Error(`command ${i} ended with ${exitCode}`)
      }
    } finally {
      process.off('warning', onWarning)
    }
    await settledTo(before)
    assert.deepEqual(warnings, [])
  })
}
