// Rows: calls from programs to handlers and back.
import assert from 'node:assert/strict'
import type { CodeBinding } from '@deepseek-ai/dsh-code-runtime'
import { TOOLS, type CodeTest } from './suite.ts'

const misuse = { code: 'CODE_RUNTIME_MISUSE' }

export function bindingRows(test: CodeTest): void {
  test('passes the argument as data and resolves with the value', async ({ run }) => {
    const seen: unknown[] = []
    const record: CodeBinding = {
      ...TOOLS,
      async call(name, argument) {
        seen.push([name, argument])
        return { got: argument }
      },
    }
    const program =
      'const arg = { a: [1, "é\\u0000"], n: null }; const call = tools.echo(arg); arg.a = "changed"; return await call'
    const result = await run(program, { bindings: [record] })
    assert.deepEqual(seen, [['echo', { a: [1, 'é\u0000'], n: null }]])
    assert.deepEqual(result.value, { got: { a: [1, 'é\u0000'], n: null } })
  })

  test('reaches functions of any name, those of Object.prototype included', async ({ run }) => {
    const program =
      'return [await tools["odd name"](1), await tools.__proto__(2), await tools.constructor(3), Object.keys(tools)]'
    assert.deepEqual((await run(program)).value, [1, 2, 3, [...TOOLS.names]])
  })

  test('has no name that was not bound', async ({ run }) => {
    assert.deepEqual(
      (await run('return [typeof tools.toString, "valueOf" in tools, Object.getPrototypeOf(tools)]')).value,
      ['undefined', false, null],
    )
  })

  test('rejects with the error class: name, member, message', async ({ run }) => {
    const program = `
      try { await tools.fail({}) } catch (error) {
        return [error instanceof ToolCallError, error instanceof Error, error.name, error.toolName, error.message, Object.keys(error),
          error.code === undefined && error.cause === undefined]
      }`
    const expected = [true, true, 'ToolCallError', 'fail', 'told to fail', [], true]
    assert.deepEqual((await run(program)).value, expected)
  })

  test('rejects with a plain error where no class was asked for', async ({ run }) => {
    const { errorClass: _none, ...plain } = TOOLS
    const program =
      'try { await tools.fail({}) } catch (error) { return [error.constructor === Error, error.message, typeof ToolCallError] }'
    const result = await run(program, { bindings: [plain] })
    assert.deepEqual(result.value, [true, 'told to fail', 'undefined'])
  })

  test('fails the run with the message of a call that nobody caught', async ({ run }) => {
    const { error } = await run('await tools.fail({})')
    assert.equal(error?.kind, 'exception')
    assert.match(error.message, /^ToolCallError: told to fail/)
  })

  test('overlaps calls and keeps the order of submission', async ({ run }) => {
    const order: unknown[] = []
    const releases: (() => void)[] = []
    const held: CodeBinding = {
      ...TOOLS,
      async call(_name, argument) {
        order.push(argument)
        await new Promise<void>((resolve) => {
          releases.push(resolve)
          if (releases.length === 5) for (const release of releases.toReversed()) release()
        })
        return argument
      },
    }
    const result = await run('return await Promise.all([0, 1, 2, 3, 4].map((i) => tools.echo(i)))', {
      bindings: [held],
    })
    assert.deepEqual(order, [0, 1, 2, 3, 4])
    assert.deepEqual(result.value, [0, 1, 2, 3, 4])
  })

  for (const [what, argument] of [
    ['nothing', ''],
    ['undefined', 'undefined'],
    ['undefined inside', '{ a: undefined }'],
    ['a function', '() => 1'],
    ['NaN', '{ n: NaN }'],
    ['-0', '[-0]'],
    ['a bigint', '{ n: 1n }'],
    ['a cycle', '(() => { const a = []; a.push(a); return a })()'],
    ['a date', 'new Date()'],
    ['a proxy', 'new Proxy({}, { ownKeys() { throw new Error("trap") } })'],
    ['a throwing getter', '{ get a() { throw new Error("getter") } }'],
    ['a hostile toJSON', '{ toJSON() { throw new Error("toJSON") } }'],
  ] as const) {
    test(`rejects an argument that is not lossless JSON and calls nobody: ${what}`, async ({ run }) => {
      let calls = 0
      const counted: CodeBinding = { ...TOOLS, call: async () => (calls += 1) }
      const program = `try { await tools.echo(${argument}); return 'called' } catch (error) { return [error instanceof ToolCallError, error.message] }`
      const { value } = await run(program, { bindings: [counted] })
      assert.ok(Array.isArray(value), JSON.stringify(value))
      assert.equal(value[0], true)
      assert.match(String(value[1]), /lossless JSON/)
      assert.equal(calls, 0)
    })
  }

  test('offers several bindings at once', async ({ run }) => {
    const other: CodeBinding = { global: 'other', names: ['double'], call: async (_name, n) => Number(n) * 2 }
    assert.equal((await run('return (await other.double(await tools.echo(4)))', { bindings: [TOOLS, other] })).value, 8)
  })

  for (const global of ['', '1a', 'a b', 'class', 'await', 'console', 'setTimeout', 'URL', 'Object', 'globalThis']) {
    test(`refuses to bind the global ${JSON.stringify(global)}`, async ({ run }) => {
      await assert.rejects(run('', { bindings: [{ ...TOOLS, global }] }), misuse)
    })
  }

  test('refuses a global that is bound twice, be it by an error class, and a name twice', async ({ run }) => {
    await assert.rejects(run('', { bindings: [TOOLS, TOOLS] }), misuse)
    await assert.rejects(
      run('', { bindings: [{ ...TOOLS, errorClass: { name: 'tools', memberNameProperty: 'x' } }] }),
      misuse,
    )
    await assert.rejects(
      run('', { bindings: [{ ...TOOLS, errorClass: { name: 'E', memberNameProperty: 'message' } }] }),
      misuse,
    )
    await assert.rejects(run('', { bindings: [{ ...TOOLS, names: ['a', 'a'] }] }), misuse)
  })
}
