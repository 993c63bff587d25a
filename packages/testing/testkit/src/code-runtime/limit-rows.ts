// Rows: programs that compute, wait, print, allocate or call without end.
import assert from 'node:assert/strict'
import type { CodeFailureKind } from '@deepseek-ai/dsh-code-runtime'
import { TOOLS, type CodeTest } from './suite.ts'

export function limitRows(test: CodeTest): void {
  for (const [what, program, kinds] of [
    ['an endless loop', 'console.log("before"); for (;;);', ['timeout']],
    [
      'an endless loop that catches everything',
      'console.log("before"); for (;;) { try { for (;;); } catch {} }',
      ['timeout'],
    ],
    [
      'endless microtasks, each promise held by the one before',
      'console.log("before"); const again = () => Promise.resolve().then(again); await again()',
      ['timeout', 'memory'],
    ],
    [
      'an endless queue of microtasks',
      'console.log("before"); (function f() { queueMicrotask(f) })(); await null',
      ['timeout', undefined],
    ],
    ['a loop behind a pending call', 'console.log("before"); tools.never({}); for (;;);', ['timeout']],
    ['an endless recursion', 'console.log("before"); const f = () => f() + 1; return f()', ['exception']],
    [
      'a string that doubles',
      'console.log("before"); let s = "x"; const all = []; for (;;) { s += s; all.push(s + all.length) }',
      ['memory', 'exception'],
    ],
    [
      'typed arrays without end',
      'console.log("before"); const all = []; for (;;) all.push(new Uint8Array(1e6).fill(1))',
      ['memory'],
    ],
    [
      'objects without end',
      'console.log("before"); const all = []; for (;;) all.push({ a: [all.length] })',
      ['memory', 'timeout'],
    ],
    [
      'a huge array',
      'console.log("before"); return new Array(2 ** 32 - 1).fill(0)',
      ['memory', 'timeout', 'exception'],
    ],
    [
      'a regular expression that backtracks',
      'console.log("before"); return /^(a+)+$/.test("a".repeat(40) + "b")',
      ['timeout', 'exception', 'memory', 'runtime-exit'],
    ],
    ['a deep text', 'console.log("before"); return JSON.parse("[".repeat(1e6))', ['exception']],
    ['closures that wait', 'console.log("before"); for (;;) setTimeout(() => {}, 1e6)', ['exception', 'timeout']],
    ['a promise that nothing settles', 'console.log("before"); await new Promise(() => {})', ['deadlock']],
    [
      'a promise that nothing settles any more',
      'console.log("before"); await tools.echo({}); await new Promise((done) => setTimeout(done, 1)); await new Promise(() => {})',
      ['deadlock'],
    ],
  ] as const satisfies readonly (readonly [string, string, readonly (CodeFailureKind | undefined)[]])[]) {
    test(`ends and names ${what}, keeps what was printed, and serves the next program`, async ({ run }) => {
      const result = await run(program)
      const kind = result.error?.kind
      assert.ok((kinds as readonly (CodeFailureKind | undefined)[]).includes(kind), JSON.stringify(result.error))
      assert.deepEqual(result.logs, ['before'])
      assert.deepEqual(await run('return await tools.echo("next")'), { value: 'next', logs: [] })
    })
  }

  test('does not count waiting as computing', async ({ make }) => {
    const own = await make({ computeMs: 200, maxWallMs: 20_000, maxOutputBytes: 65_536, maxMemoryMb: 64 })
    try {
      const program = 'await new Promise((done) => setTimeout(done, 300)); return "waited"'
      assert.equal((await own.runtime.run({ program, bindings: [] })).value, 'waited')
    } finally {
      await own.dispose()
    }
  })

  test('ends a program that waits for a call beyond the wall clock', async ({ make }) => {
    const own = await make({ computeMs: 20_000, maxWallMs: 150, maxOutputBytes: 65_536, maxMemoryMb: 64 })
    try {
      const result = await own.runtime.run({
        program: 'console.log("before"); await tools.never({})',
        bindings: [TOOLS],
      })
      assert.equal(result.error?.kind, 'timeout')
      assert.match(result.error.message, /150 ms/)
      assert.deepEqual(result.logs, ['before'])
    } finally {
      await own.dispose()
    }
  })

  test('counts the exact bytes of logs and result', async ({ run, limits }) => {
    const line = 'é"'.repeat(1000)
    const bytes = (logs: string[], value: string): number =>
      Buffer.byteLength(JSON.stringify(logs)) + Buffer.byteLength(JSON.stringify(value))
    const room = limits.maxOutputBytes - bytes([line], '')
    const program = (length: number): string => `console.log(${JSON.stringify(line)}); return 'x'.repeat(${length})`
    const fitting = await run(program(room))
    assert.equal(fitting.error, undefined)
    assert.equal(bytes([...fitting.logs], fitting.value as string), limits.maxOutputBytes)
    const over = await run(program(room + 1))
    assert.equal(over.error?.kind, 'output-limit')
    assert.deepEqual(over.logs, [line])
  })

  test('keeps the lines that fit when a program prints too much', async ({ run, limits }) => {
    const result = await run('for (let i = 0; ; i++) console.log("line " + i)')
    assert.equal(result.error?.kind, 'output-limit')
    const bytes = Buffer.byteLength(JSON.stringify(result.logs))
    assert.ok(bytes <= limits.maxOutputBytes && bytes > limits.maxOutputBytes - 20, String(bytes))
    result.logs.forEach((line, index) => assert.equal(line, `line ${index}`))
  })

  test('refuses one line that is too long', async ({ run }) => {
    assert.equal((await run('console.log("x".repeat(1e6))')).error?.kind, 'output-limit')
  })

  test('answers 100,000 pending calls or refuses some by name', async ({ make }) => {
    const own = await make({ computeMs: 60_000, maxWallMs: 60_000, maxOutputBytes: 65_536, maxMemoryMb: 256 })
    try {
      const program = `
        const calls = []; for (let i = 0; i < 1e5; i++) calls.push(tools.echo(i))
        const settled = await Promise.allSettled(calls)
        return [settled.length, settled.every(({ status, value }, i) => status === 'rejected' || value === i), settled.find((s) => s.reason)?.reason.message ?? '']`
      const { value, error } = await own.runtime.run({ program, bindings: [TOOLS] })
      assert.equal(error, undefined)
      assert.ok(Array.isArray(value))
      assert.deepEqual(value.slice(0, 2), [100_000, true])
      assert.match(String(value[2]), /^$|pending/)
    } finally {
      await own.dispose()
    }
  })

  test('bounds 100,000 calls that nobody answers', async ({ make }) => {
    const own = await make({ computeMs: 60_000, maxWallMs: 2000, maxOutputBytes: 65_536, maxMemoryMb: 256 })
    let inFlight = 0
    const never = { ...TOOLS, call: () => ((inFlight += 1), new Promise<never>(() => {})) }
    try {
      const program = 'for (let i = 0; i < 1e5; i++) tools.echo({ i }).catch(() => {}); await new Promise(() => {})'
      assert.equal((await own.runtime.run({ program, bindings: [never] })).error?.kind, 'timeout')
      assert.ok(inFlight <= 2048, `${inFlight} calls reached the host`)
    } finally {
      await own.dispose()
    }
  })

  test('refuses calls whose arguments together are too large', async ({ run }) => {
    const program = `
      const big = 'x'.repeat(1e6); const refused = []
      for (let i = 0; i < 100; i++) tools.never(big).catch((error) => refused.push(error.message))
      await null; await null; await null
      return refused[0]`
    assert.match(JSON.stringify((await run(program)).value), /pending/)
  })
}
