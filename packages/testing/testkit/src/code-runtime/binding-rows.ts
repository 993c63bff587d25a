// Rows: calls from programs to handlers and back.
import assert from 'node:assert/strict'
import type { CodeBinding } from '@deepseek-ai/dsh-code-runtime'
import type { Json } from '@deepseek-ai/dsh-tools'
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

  test('shows nothing of a failed call but name, member and message, however it is thrown', async ({ run }) => {
    const program = `
      const seen = async (fail) => {
        try { await fail() } catch (error) {
          const own = Reflect.ownKeys(error).toSorted()
          const inherited = []; for (let each = Object.getPrototypeOf(error); each !== Error.prototype; each = Object.getPrototypeOf(each)) inherited.push(...Reflect.ownKeys(each))
          return [own, inherited, error.stack === undefined, Object.values(error)]
        }
      }
      const rethrow = async () => { try { await tools.fail({}) } catch (error) { throw error } }
      return [await seen(() => tools.fail({})), await seen(rethrow), await seen(() => tools.echo()), await seen(() => { throw new ToolCallError('x', 'own') })]`
    const each = [['message', 'name', 'toolName'], ['constructor'], true, []]
    assert.deepEqual((await run(program)).value, [each, each, each, each])
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
    assert.match(error.message, /^ToolCallError: told to fail\n {4}at tools\.fail/)
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

  test('carries calls and results of any size, in the order in which they were made', async ({ run }) => {
    const seen: number[] = []
    const sized: CodeBinding = {
      ...TOOLS,
      async call(_name, argument) {
        const { i, text } = argument as { i: number; text: string }
        seen.push(i)
        return { i, text: text + text }
      },
    }
    const program = `
      const size = (i) => (i * 7919) % (i % 10 === 0 ? 90_000 : 900)
      const all = await Promise.all(Array.from({ length: 200 }, (_, i) => tools.echo({ i, text: 'é'.repeat(size(i)) })))
      for (let i = 200; i < 250; i++) all.push(await tools.echo({ i, text: 'é'.repeat(size(i)) }))
      return all.every(({ i, text }, index) => i === index && text === 'é'.repeat(2 * size(i))) && all.length`
    assert.equal((await run(program, { bindings: [sized] })).value, 250)
    assert.deepEqual(
      seen,
      Array.from({ length: 250 }, (_, i) => i),
    )
  })

  test('keeps the order of calls and that of console lines, however they alternate', async ({ run }) => {
    const calls: Json[] = []
    const lines: string[] = []
    const recorded: CodeBinding = { ...TOOLS, call: async (_name, argument) => (calls.push(argument), argument) }
    const program = `
      const pending = []
      for (let i = 0; i < 600; i++) {
        pending.push(tools.echo(i)); console.log('line ' + i)
        if (i % 7 === 0) await pending.at(-1)
      }
      await Promise.all(pending); return pending.length`
    const result = await run(program, { bindings: [recorded], onLog: (line) => void lines.push(line) })
    assert.equal(result.value, 600)
    const numbers = Array.from({ length: 600 }, (_, i) => i)
    assert.deepEqual(calls, numbers)
    assert.deepEqual(
      result.logs,
      numbers.map((i) => `line ${i}`),
    )
    assert.deepEqual(lines, result.logs)
  })

  test('starts a call although the program then computes without end', async ({ run }) => {
    const calls: Json[] = []
    const recorded: CodeBinding = { ...TOOLS, call: async (_name, argument) => (calls.push(argument), argument) }
    const { error } = await run('tools.echo("before"); for (;;);', { bindings: [recorded] })
    assert.equal(error?.kind, 'timeout')
    assert.deepEqual(calls, ['before'])
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
