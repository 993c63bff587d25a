// Rows: what programs try in order to reach the machine, the host or another run.
import assert from 'node:assert/strict'
import { TOOLS, type CodeTest } from './suite.ts'

const MACHINE = [
  'process',
  'require',
  'module',
  'fetch',
  'Buffer',
  'WebAssembly',
  'Worker',
  'global',
  'std',
  'os',
  'Deno',
  'Bun',
]

export function escapeRows(test: CodeTest): void {
  test('has nothing of the machine by name', async ({ run }) => {
    const program = `return ${JSON.stringify(MACHINE)}.filter((name) => name in globalThis || typeof eval('typeof ' + name) !== 'string' || eval('typeof ' + name) !== 'undefined')`
    assert.deepEqual((await run(program)).value, [])
  })

  for (const [what, program] of [
    ['the constructor of the global object', 'return globalThis.constructor.constructor("return typeof process")()'],
    ['the constructor of a function', 'return (async () => {}).constructor("return typeof process")()'],
    ['the constructor of a binding', 'return tools.echo.constructor("return typeof process")()'],
    ['the constructor of a result', 'return (await tools.echo({})).constructor.constructor("return typeof process")()'],
    [
      'the constructor of an error',
      'try { await tools.fail({}) } catch (e) { return e.constructor.constructor("return typeof process")() }',
    ],
    ['the constructor of a promise', 'return tools.echo({}).constructor.constructor("return typeof process")()'],
    ['the caller of console', 'return console.log.constructor("return typeof process")()'],
    ['eval', 'return (0, eval)("typeof process")'],
  ] as const) {
    test(`reaches nothing through ${what}`, async ({ run }) => {
      assert.equal((await run(program)).value, 'undefined')
    })
  }

  for (const name of [
    'node:fs',
    'fs',
    'std',
    'os',
    './package.json',
    'https://example.com/x.js',
    'data:text/javascript,export default 1',
  ]) {
    test(`imports nothing: ${name}`, async ({ run }) => {
      assert.equal((await run(`await import(${JSON.stringify(name)})`)).error?.kind, 'exception')
      assert.equal((await run(`import * as it from ${JSON.stringify(name)}\nreturn 1`)).error?.kind, 'exception')
    })
  }

  test('keeps the host whole when a program replaces what serialising and promises rely on', async ({ run }) => {
    const program = `
      Object.prototype.toJSON = () => 'evil'; Array.prototype.toJSON = () => 'evil'; JSON.stringify = () => 'evil'; JSON.parse = () => 'evil'
      Object.keys = Object.values = () => []; Reflect.ownKeys = () => []; Array.isArray = () => false
      Array.prototype.push = () => { throw 1 }; Array.prototype[Symbol.iterator] = null
      Object.defineProperty(Object.prototype, 'then', { get() { return undefined }, configurable: true })
      const own = Promise.prototype.then; Promise.prototype.then = function (...args) { return own.apply(this, args) }
      const answer = await tools.echo({ a: [1] })
      return { answer }`
    assert.deepEqual((await run(program)).value, { answer: { a: [1] } })
  })

  test('lets nobody change the bindings', async ({ run }) => {
    const program = `
      const tries = [() => { tools.echo = 1 }, () => { delete tools.echo }, () => { tools.more = 1 }, () => { globalThis.tools = 1 },
        () => { delete globalThis.tools }, () => Object.setPrototypeOf(tools, {}), () => { tools.echo.x = 1 },
        () => Object.defineProperty(tools, 'echo', { value: 1 }), () => new tools.echo({})]
      return tries.map((attempt) => { try { attempt(); return 'changed' } catch (error) { return error.name } })`
    assert.deepEqual(
      (await run(program)).value,
      Array.from({ length: 9 }, () => 'TypeError'),
    )
  })

  test("gives results that are nobody else's", async ({ run }) => {
    const value = { list: [1] }
    const shared = { ...TOOLS, call: async () => value }
    const program =
      'const a = await tools.echo({}); a.list.push(2); a.__proto__.polluted = 1; return (await tools.echo({})).list'
    assert.deepEqual((await run(program, { bindings: [shared] })).value, [1])
    assert.equal(({} as { polluted?: number }).polluted, undefined)
  })

  test('never calls with a name that was not bound', async ({ run }) => {
    const names: string[] = []
    const spy = { ...TOOLS, names: ['echo'], call: async (name: string) => (names.push(name), null) }
    const program =
      'try { await tools.secret({}) } catch {} Object.prototype.secret = tools.echo; return await tools.echo({})'
    assert.equal((await run(program, { bindings: [spy] })).value, null)
    assert.deepEqual(names, ['echo'])
  })

  test('keeps nothing from run to run', async ({ run }) => {
    await run(
      'globalThis.left = 1; Object.prototype.left = 1; Array.prototype.map = null; console.log = null; setInterval(() => {}, 1)',
    )
    assert.deepEqual(await run('return [typeof left, typeof [].map, typeof ({}).left]'), {
      value: ['undefined', 'function', 'undefined'],
      logs: [],
    })
  })
}
