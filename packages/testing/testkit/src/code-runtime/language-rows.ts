// Rows: what a program is, what comes back of it, and what it prints.
import assert from 'node:assert/strict'
import type { CodeTest } from './suite.ts'

export function languageRows(test: CodeTest): void {
  test('gives back what the program returns', async ({ run }) => {
    assert.deepEqual(await run('return { a: [1, "two", null, true, 2.5], "é": {} }'), {
      value: { a: [1, 'two', null, true, 2.5], é: {} },
      logs: [],
    })
  })

  test('gives no value for a program that returns nothing', async ({ run }) => {
    assert.deepEqual(await run(''), { logs: [] })
    assert.deepEqual(await run('return undefined // done'), { logs: [] })
    assert.deepEqual(await run('return null'), { value: null, logs: [] })
  })

  test('erases TypeScript', async ({ run }) => {
    const program = `
      interface Row { id: number }
      type Ids = readonly number[]
      enum Kind { A = 'a' }
      const pick = <T extends Row>(rows: T[]): Ids => rows.map((row) => row.id!)
      return [...(pick([{ id: 1 } as Row]) satisfies Ids), Kind.A]`
    assert.deepEqual((await run(program)).value, [1, 'a'])
  })

  test('awaits at the top level', async ({ run }) => {
    assert.equal((await run('const x = await Promise.resolve(20); for await (const y of [1]) return x + y')).value, 21)
  })

  test('keeps every character of strings', async ({ run }) => {
    const text = 'é€😀\u0000\ud800"\\\n\u2028'
    assert.equal((await run(`return ${JSON.stringify(text)}`)).value, text)
    assert.deepEqual((await run(`console.log(${JSON.stringify(text)})`)).logs, [text])
  })

  test('keeps the key "__proto__" as data', async ({ run }) => {
    const { value } = await run('return JSON.parse(\'{"__proto__":{"a":1},"b":2}\')')
    assert.equal(JSON.stringify(value), '{"__proto__":{"a":1},"b":2}')
  })

  test('keeps console lines in order and hands them over as they come', async ({ run }) => {
    const seen: string[] = []
    const program =
      'console.log("a", 1); console.warn({ b: [1] }); await null; console.error("c%s", "d"); console.debug(); return 1'
    const result = await run(program, { onLog: (line) => void seen.push(line) })
    assert.deepEqual(result.logs, ['a 1', '{ b: [1] }', 'cd', ''])
    assert.deepEqual(seen, result.logs)
  })

  test('bounds what one console call prints of deep and long values', async ({ run }) => {
    const program = `
      let deep = {}; for (let i = 0; i < 1000; i++) deep = { deep }
      const cycle = {}; cycle.self = cycle
      console.log(deep, Array.from({ length: 5000 }, (_, i) => i), cycle, { get secret() { throw 1 } }, new Map([[1, new Set([2])]]))`
    const [line = ''] = (await run(program)).logs
    assert.ok(line.length < 5000, `${line.length} characters`)
    assert.match(line, /Circular/)
    assert.match(line, /Map\(1\) \{ 1 => Set\(1\) \{ 2 \} \}/)
  })

  test('names line and column of an exception in the program, not in what it became', async ({ run }) => {
    const { error } = await run(
      '\ninterface Gone { x: string }\n\nconst a: any = null\n\nfunction inner(): number {\n  return a.b.c\n}\ninner()',
    )
    assert.equal(error?.kind, 'exception')
    assert.match(error.message, /TypeError/)
    assert.match(error.message, /inner \(line 7:1[0-4]\)/)
    assert.match(error.message, /line 9:1/)
  })

  test('names line and column of what does not parse and shows the place', async ({ run }) => {
    const { error } = await run('const é = "é"\nconst b = ;')
    assert.equal(error?.kind, 'exception')
    assert.match(error.message, /SyntaxError: .*\(2:11\)/)
    assert.match(error.message, /> 2 \| const b = ;/)
  })

  test('reports what is thrown and is no error', async ({ run }) => {
    assert.match((await run('throw { code: 7 }')).error?.message ?? '', /\{ code: 7 \}/)
    assert.equal((await run('throw null')).error?.kind, 'exception')
    assert.equal((await run('throw { get message() { throw 1 }, toString() { throw 2 } }')).error?.kind, 'exception')
  })

  test('fails the run when a timer throws', async ({ run }) => {
    const { error } = await run('setTimeout(() => { throw new Error("late") }, 1); await new Promise(() => {})')
    assert.equal(error?.kind, 'exception')
    assert.match(error.message, /late/)
  })

  for (const [what, program, place] of [
    ['undefined inside', 'return { a: [1, undefined] }', 'result.a[1]'],
    ['a negative zero', 'return [-0]', 'result[0]'],
    ['NaN', 'return { n: NaN }', 'result.n'],
    ['a bigint', 'return { n: 1n }', 'result.n'],
    ['a function', 'return { f() {} }', 'result.f'],
    ['a symbol', 'return Symbol()', 'result'],
    ['a symbol key', 'return { [Symbol.iterator]: 1 }', 'result'],
    ['a cycle', 'const a = {}; a.a = a; return a', 'result.a'],
    ['a hole', 'return [1, , 2]', 'result[1]'],
    ['an extra property of an array', 'return Object.assign([1], { more: 2 })', 'result.more'],
    ['a hidden property', 'return Object.defineProperty({}, "x", { value: 1 })', 'result.x'],
    ['an accessor', 'return { get a() { return 1 } }', 'result.a'],
    ['a date', 'return { d: new Date() }', 'result.d'],
    ['a map', 'return new Map()', 'result'],
    ['a class instance', 'return new (class Point { x = 1 })()', 'result'],
    ['a proxy', 'return new Proxy({}, {})', 'result'],
    ['toJSON', 'return { toJSON() { return 1 } }', 'result.toJSON'],
    ['a very deep list', 'let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return a', 'deep'],
  ] as const) {
    test(`refuses a result that JSON would not keep: ${what}`, async ({ run }) => {
      const result = await run(program)
      assert.equal(result.error?.kind, 'invalid-output')
      assert.ok(result.error.message.includes(place), result.error.message)
      assert.equal('value' in result, false)
    })
  }

  test('offers timers, text coding, URLs and structured clones', async ({ run }) => {
    const program = `
      const at = Date.now(); let ticks = 0
      await new Promise((done) => { const id = setInterval(() => { ticks += 1; if (ticks === 3) { clearInterval(id); done() } }, 1) })
      const cancelled = setTimeout(() => console.log('never'), 1); clearTimeout(cancelled)
      await new Promise((done) => setTimeout(done, 20, 'x'))
      const order = []; queueMicrotask(() => order.push('micro')); await null; await null
      const url = new URL('../b?x=1#h', 'https://user@example.com:8080/a/c')
      url.searchParams.append('y', 'é'); url.hash = 'z'
      const date = structuredClone({ at: new Date(5), list: [new Map([[1, { n: 1 }]])] })
      return [ticks, Date.now() - at >= 20, order, url.href, url.origin, String(new URLSearchParams({ a: '1 2' })), URL.canParse('x'),
        [...new TextEncoder().encode('é😀')], new TextDecoder().decode(new Uint8Array([0xc3, 0xa9])), date.at.getTime(), date.list[0].get(1).n]`
    const result = await run(program)
    assert.deepEqual(result, {
      value: [
        3,
        true,
        ['micro'],
        'https://user@example.com:8080/b?x=1&y=%C3%A9#z',
        'https://example.com:8080',
        'a=1+2',
        false,
        [195, 169, 240, 159, 152, 128],
        'é',
        5,
        1,
      ],
      logs: [],
    })
  })
}
