// Rows: abort, concurrent runs and disposal.
import assert from 'node:assert/strict'
import { TOOLS, type CodeTest } from './suite.ts'

/** On a quiet machine an abort takes a few milliseconds; the margin is for a busy one. */
const PROMPTLY_MS = 500

export function lifecycleRows(test: CodeTest): void {
  for (const [what, body] of [
    ['computes', 'for (;;);'],
    ['waits for a call', 'await tools.never({})'],
    ['waits for a timer', 'await new Promise((done) => setTimeout(done, 1e6))'],
    ['is inside one long native operation', 'Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)'],
  ] as const) {
    test(`aborts promptly a program that ${what}, and keeps its lines`, async ({ run }) => {
      const abort = new AbortController()
      let abortedAt = 0
      const onLog = (): void => {
        abortedAt = performance.now()
        abort.abort(new Error('enough'))
      }
      const result = await run(`console.log("before"); ${body}`, { signal: abort.signal, onLog })
      assert.deepEqual(result, { logs: ['before'], error: { kind: 'abort', message: 'enough' } })
      assert.ok(performance.now() - abortedAt < PROMPTLY_MS)
    })
  }

  test('starts nothing when the signal is aborted already', async ({ run }) => {
    const result = await run('console.log("started")', { signal: AbortSignal.abort(new Error('before')) })
    assert.deepEqual(result, { logs: [], error: { kind: 'abort', message: 'before' } })
  })

  test('calls no handler once a run has settled', async ({ run }) => {
    const abort = new AbortController()
    let settled = false
    let late = 0
    const spy = {
      ...TOOLS,
      call: async () => {
        if (settled) late += 1
        abort.abort()
        return null
      },
    }
    const result = await run('for (;;) await tools.echo({})', { bindings: [spy], signal: abort.signal })
    settled = true
    assert.equal(result.error?.kind, 'abort')
    await run('return 1')
    assert.equal(late, 0)
  })

  test('runs several programs at once without mixing them', async ({ run }) => {
    const programs = Array.from({ length: 8 }, (_, index) =>
      run(
        `globalThis.me = ${index}; const out = []; for (let i = 0; i < 20; i++) out.push(await tools.echo(me)); console.log(me); return out`,
      ),
    )
    for (const [index, result] of (await Promise.all(programs)).entries()) {
      assert.deepEqual(result, { value: Array.from({ length: 20 }, () => index), logs: [String(index)] })
    }
  })

  test('ends every run with abort on disposal, those that wait for a place included, and refuses later ones', async ({
    make,
    limits,
  }) => {
    const own = await make(limits)
    const programs = [
      'for (;;);',
      'await tools.never({})',
      'await new Promise((done) => setTimeout(done, 1e6))',
      'for (;;);',
    ]
    let started: () => void = () => {}
    const first = new Promise<void>((resolve) => (started = resolve))
    const runs = programs.map((program) =>
      own.runtime.run({ program: `console.log("up"); ${program}`, bindings: [TOOLS], onLog: () => started() }),
    )
    await first
    await own.dispose()
    for (const { error } of await Promise.all(runs)) assert.equal(error?.kind, 'abort')
    await assert.rejects(own.runtime.run({ program: '', bindings: [] }), { code: 'CODE_RUNTIME_DISPOSED' })
  })
}
