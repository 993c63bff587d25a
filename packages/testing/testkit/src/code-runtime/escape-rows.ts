// Rows: what programs try in order to reach the machine, the host or another run.
import assert from 'node:assert/strict'
import type { Json } from '@deepseek-ai/dsh-tools'
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

  for (const [what, tampering] of [
    [
      'setters on the prototypes of lists and objects',
      `for (const key of ['0', '1', '2', 'id', 'value', 'resolve', 'reject', 'failure', 'length2', 'message', 'name', 'toolName'])
        for (const target of [Object.prototype, Array.prototype])
          Object.defineProperty(target, key, { set() { throw new Error('trap') }, get() { return 'evil' }, configurable: true })`,
    ],
    [
      'the iteration of lists, strings and maps',
      `for (const { prototype } of [Array, String, Map, Set]) prototype[Symbol.iterator] = function* () { yield 'evil' }
      Object.getPrototypeOf([][Symbol.iterator]?.() ?? {}).next = () => ({ done: true })`,
    ],
    [
      'promises',
      `const { then } = Promise.prototype
      globalThis.Promise = function () { throw new Error('trap') }
      Object.getPrototypeOf((async () => {})()).then = function (...args) { return Reflect.apply(then, this, args) }
      Object.defineProperty(Object.getPrototypeOf((async () => {})()), 'constructor', { get() { return { [Symbol.species]: function () { throw 1 } } } })`,
    ],
    [
      'maps, reflection and the making of objects',
      `for (const name of ['get', 'set', 'has', 'delete']) WeakMap.prototype[name] = Map.prototype[name] = () => { throw new Error('trap') }
      for (const name of Object.getOwnPropertyNames(Reflect)) Reflect[name] = () => { throw new Error('trap') }
      for (const name of ['create', 'freeze', 'keys', 'values', 'setPrototypeOf', 'getOwnPropertyDescriptor']) Object[name] = () => ({})`,
    ],
    [
      'functions, strings and errors',
      `for (const name of ['call', 'apply', 'bind']) Function.prototype[name] = () => { throw new Error('trap') }
      for (const name of ['slice', 'split', 'replace', 'repeat', 'toString']) String.prototype[name] = () => 'evil'
      globalThis.Error = globalThis.TypeError = globalThis.String = globalThis.Number = globalThis.JSON = globalThis.Object = undefined`,
    ],
  ] as const) {
    test(`makes no calls but those of the program when it tampers with ${what}`, async ({ run }) => {
      const seen: unknown[] = []
      const spy = {
        ...TOOLS,
        call: async (name: string, argument: Json) => {
          seen.push([name, argument])
          return await TOOLS.call(name, argument)
        },
      }
      const program = `
        ${tampering}
        const first = await tools.echo({ a: [1, 'two'] })
        const both = [tools.echo(2), tools.echo({ b: null })]
        let refused = 'not'
        try { await tools.fail({}) } catch (error) { refused = error.message }
        return [first.a[1], await both[0], (await both[1]).b, refused]`
      const { value, error } = await run(program, { bindings: [spy] })
      const made = [
        ['echo', { a: [1, 'two'] }],
        ['echo', 2],
        ['echo', { b: null }],
        ['fail', {}],
      ]
      // A program may spoil its own run; what reached the host is what it asked for, and ends there.
      if (error === undefined) assert.deepEqual([value, seen], [['two', 2, null, 'told to fail'], made])
      else assert.deepEqual(seen, made.slice(0, seen.length), error.message)
      assert.deepEqual(await run('return await tools.echo("next")'), { value: 'next', logs: [] })
    })
  }

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
