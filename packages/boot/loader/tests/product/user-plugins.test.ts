import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { BootReport, RowReport } from '@deepseek-ai/dsh-loader'

const driver = fileURLToPath(new URL('./boot-rows.mjs', import.meta.url))
const built = fileURLToPath(new URL('../../dist/index.js', import.meta.url))

interface Outcome {
  report: BootReport
  seen: Record<string, unknown>
  answer?: { isError: boolean; value?: unknown }
  hooks: boolean
  dump: string
  stderr: string
}

let folder: string

beforeAll(() => {
  if (!existsSync(built)) throw new Error('these tests run the built loader; run "pnpm build" first')
})
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'dsh-plugins-')))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function write(files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    const file = join(folder, name)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
}

function run(files: string[], env: Record<string, string> = {}): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const options = { cwd: folder, env: { PATH: process.env['PATH'], HOME: folder, ...env } }
    execFile(process.execPath, [driver, ...files], options, (error, stdout, stderr) => {
      if (error !== null) reject(new Error(`${error.message}\n${stderr}`))
      else resolve({ ...(JSON.parse(stdout) as Outcome), stderr })
    })
  })
}

const of = (outcome: Outcome, id: string): RowReport => outcome.report.rows.find((row) => row.row === id)!

const TOOLS = "- name: '@deepseek-ai/dsh-tools'\n"

const GREET = `import type { Context } from '@deepseek-ai/cordis'
import { defineTool } from '@deepseek-ai/dsh-tools'

export const name = 'greet-tool'
export const inject = ['tools']

export function apply(ctx: Context) {
  ctx.tools.register(defineTool({
    name: 'greet',
    description: 'Greet somebody.',
    parameters: { name: { type: 'string', required: true, description: 'Who to greet' } },
    output: { schema: { type: 'string' }, render: (_args, value) => [{ type: 'text', text: value }] },
    async execute(args) {
      return \`Hello, \${args.name}!\`
    },
  }))
}
`

const READ_FILE = `import { readFile } from 'node:fs/promises'
import type { Context } from '@deepseek-ai/cordis'
import { defineTool } from '@deepseek-ai/dsh-tools'

export const name = 'my-tool'
export const inject = ['tools']

export function apply(ctx: Context) {
  ctx.tools.register(defineTool({
    name: 'read_file',
    description: 'Read a file from disk.',          // what the model sees
    parameters: {
      path: { type: 'string', required: true, description: 'Absolute path' },
      limit: { type: 'number' },                     // optional by default
    },
    output: {
      schema: { type: 'string' },
      render: (_args, value) => [{ type: 'text', text: value }],
    },
    async execute(args, exec) {
      // args is TYPED from the schema: { path: string; limit?: number }
      // exec carries immutable identity + token; signal is the operational field
      return readFile(args.path, { encoding: 'utf8', signal: exec.signal })
    },
  }))
}
`

describe('tools written in TypeScript', () => {
  it('loads the greeting tool from a folder without package.json, named relative to its yml', async () => {
    write({ 'scratch/src/my-plugin.ts': GREET, 'scratch/cordis.yml': `${TOOLS}- name: ./src/my-plugin.ts\n` })
    const call = JSON.stringify({ name: 'greet', arguments: { name: 'Ada' } })
    const outcome = await run(['./scratch/cordis.yml'], { CALL: call })
    expect(outcome.report.problems).toEqual([])
    expect(outcome.answer).toMatchObject({ isError: false, value: 'Hello, Ada!' })
    expect(outcome.stderr).toBe('')
  })

  it('loads the file-reading tool of the authoring reference as it stands there', async () => {
    write({
      'p/my-tool.ts': READ_FILE,
      'p/cordis.yml': `${TOOLS}- insert:\n  - name: ./my-tool.ts\n`,
      'data.txt': 'content\n',
    })
    const call = JSON.stringify({ name: 'read_file', arguments: { path: join(folder, 'data.txt') } })
    const outcome = await run(['p/cordis.yml'], { CALL: call })
    expect(outcome.answer).toMatchObject({ isError: false, value: 'content\n' })
  })
})

describe('resolution', () => {
  it("gives plugins anywhere the host's own instance of its packages, whatever lies beside them", async () => {
    const decoy = {
      'package.json': '{"name":"x","type":"module","main":"index.js"}',
      'index.js': 'export const decoy = true',
    }
    for (const name of ['@deepseek-ai/dsh-tools', '@deepseek-ai/cordis', 'cordis']) {
      write(Object.fromEntries(Object.entries(decoy).map(([file, text]) => [`node_modules/${name}/${file}`, text])))
    }
    const source = `import * as tools from '@deepseek-ai/dsh-tools'
      import * as cordis from '@deepseek-ai/cordis'
      import { Context as Upstream } from 'cordis'
      export function apply() { globalThis.seen = { tools, cordis, Upstream } }`
    write({ 'a.mjs': source, 'b/c.ts': source, 'one.yml': '- name: ./a.mjs\n', 'two.yml': '- name: ./b/c.ts\n' })
    const same = { sameTools: true, sameCordis: true, sameUpstream: true }
    expect((await run(['one.yml'])).seen).toEqual(same)
    expect((await run(['two.yml'])).seen).toEqual(same)
  })

  it('finds helpers without extension, by .js for .ts, as folders, and through symbolic links once', async () => {
    write({
      'plugin.ts': `import { a } from './lib/a'
        import { b } from './lib/b.js'
        import { c } from './lib'
        import { d } from './lib/d.mjs'
        import { count } from './count.ts'
        import { count as linked } from './linked.ts'
        export const apply = () => { globalThis.seen = { plain: { all: a + b + c + d, once: count === linked } } }`,
      'lib/a.ts': 'export const a: string = "a"',
      'lib/b.ts': 'export const b: string = "b"',
      'lib/index.ts': 'export { c } from "./c"',
      'lib/c.js': 'export const c = "c"',
      'lib/d.mts': 'export const d: string = "d"',
      'count.ts': 'export const count = Symbol("one")',
      'p.yml': '- name: ./plugin\n',
    })
    symlinkSync(join(folder, 'count.ts'), join(folder, 'linked.ts'))
    const outcome = await run(['p.yml'])
    expect(outcome.report.problems).toEqual([])
    expect(outcome.seen).toEqual({ all: 'abcd', once: true })
  })

  it("loads packages from the plugin author's node_modules, by the entry meant for import", async () => {
    write({
      'node_modules/third/package.json': '{"name":"third","exports":{"import":"./esm.mjs","require":"./cjs.cjs"}}',
      'node_modules/third/esm.mjs': 'export const apply = () => { globalThis.seen = { plain: { entry: "esm" } } }',
      'node_modules/third/cjs.cjs': 'exports.apply = () => { globalThis.seen = { plain: { entry: "cjs" } } }',
      'node_modules/only/package.json': '{"name":"only","exports":{"import":"./esm.mjs"}}',
      'node_modules/only/esm.mjs': 'export const apply = () => {}',
      'p.yml': '- name: third\n- name: only\n',
    })
    const outcome = await run(['p.yml'])
    expect(outcome.report.problems).toEqual([])
    expect(outcome.seen).toEqual({ entry: 'esm' })
  })

  it('loads CommonJS plugins and modules whose package says nothing of their kind', async () => {
    write({
      'a.cjs': 'exports.apply = () => { globalThis.seen = { plain: { cjs: true } } }',
      'b.js': 'export const apply = () => { globalThis.seen.plain.esm = true }',
      'p.yml': '- name: ./a.cjs\n- name: ./b.js\n',
    })
    expect((await run(['p.yml'])).seen).toEqual({ cjs: true, esm: true })
  })

  it('compiles enums, parameter properties, namespaces and type-only imports', async () => {
    write({
      'plugin.ts': `import type { Nothing } from './types-only-and-absent'
        enum Color { Red = 'red' }
        const enum Size { Big = 3 }
        namespace Inner { export const n = 1 }
        class Point { constructor(readonly x: number, private y = 2) {} sum() { return this.x + this.y } }
        export const apply = <T,>(_ctx: T) => {
          globalThis.seen = { plain: { v: [Color.Red, Size.Big, Inner.n, new Point(1).sum()] } }
        }
        export type Reexported = Nothing`,
      'p.yml': '- name: ./plugin.ts\n',
    })
    expect((await run(['p.yml'])).seen).toEqual({ v: ['red', 3, 1, 3] })
  })

  it('brings the module hooks only with a user module', async () => {
    write({ 'host.yml': TOOLS, 'user.mjs': 'export const apply = () => {}', 'user.yml': '- name: ./user.mjs\n' })
    expect((await run(['host.yml'])).hooks).toBe(false)
    expect((await run(['host.yml', 'user.yml'])).hooks).toBe(true)
  })
})

describe('failures of user modules', () => {
  it('names file, line and column of syntax errors, in TypeScript and JavaScript', async () => {
    const bad = 'export function apply(ctx) {\n  const = 1\n}\n'
    write({
      'bad.ts': bad,
      'bad.mjs': bad,
      'imports.ts': 'import "./bad.ts"\nexport const apply = () => {}',
      'ok.ts': 'export const apply = () => { globalThis.seen = { plain: { ok: true } } }',
      'p.yml': ['bad.ts', 'bad.mjs', 'imports.ts', 'ok.ts'].map((f) => `- { id: ${f}, name: ./${f} }\n`).join(''),
    })
    const outcome = await run(['p.yml'])
    const place = (file: string): string => `SyntaxError: ${join(folder, file)}:2:9: Unexpected token`
    expect(of(outcome, 'bad.ts').error).toContain(place('bad.ts'))
    expect(of(outcome, 'bad.mjs').error).toContain(place('bad.mjs'))
    expect(of(outcome, 'imports.ts').error).toContain(place('bad.ts'))
    expect(outcome.seen).toEqual({ ok: true })
    expect(outcome.report.ok).toBe(true)
  })

  it('keeps the lines of the TypeScript source in stacks, of the plugin and of its helpers', async () => {
    write({
      'plugin.ts': `import { fail } from './helper'
interface Gone { a: string }

enum E { A }

export function apply(): void {
  fail({ a: String(E.A) } satisfies Gone)
}
`,
      'helper.ts': `type Lines =
  | 'that'
  | 'vanish'

export function fail(gone: { a: string }): never {
  throw new RangeError('boom ' + gone.a)
}
`,
      'p.yml': '- name: ./plugin.ts\n',
    })
    const row = of(await run(['p.yml']), 'plugin')
    expect(row).toMatchObject({ state: 'failed', error: 'failed to start: boom 0' })
    expect(row.stack).toContain(`RangeError: boom 0`)
    expect(row.stack).toContain(`${join(folder, 'helper.ts')}:6:9`)
    expect(row.stack).toContain(`${join(folder, 'plugin.ts')}:7:3`)
  })

  it('tells apart what is missing: a file, a helper, a package, an export', async () => {
    write({
      'helper.ts': 'import { x } from "./absent"\nexport const apply = () => x',
      'export.ts': 'import { absent } from "./ok"\nexport const apply = () => absent',
      'package.ts': 'import x from "no-such-package"\nexport const apply = () => x',
      'throws.ts': '\nthrow new TypeError("at import")',
      'plain.ts': 'export const apply = () => {}',
      'ok.ts': 'export const ok = 1',
      'p.yml': `
- { id: file, name: ./nowhere.ts }
- { id: helper, name: ./helper.ts }
- { id: export, name: ./export.ts }
- { id: package, name: ./package.ts }
- { id: throws, name: ./throws.ts }
- { id: bare, name: no-such-package }
- { id: slip, name: plain.ts }
- { id: none, name: ./ok.ts }
`,
    })
    const outcome = await run(['p.yml'])
    const error = (id: string): string => of(outcome, id).error ?? ''
    expect(error('file')).toBe(`there is no file ${join(folder, 'nowhere.ts')}`)
    expect(error('helper')).toContain(
      `Cannot find module '${join(folder, 'absent')}' imported from ${join(folder, 'helper.ts')}`,
    )
    expect(error('export')).toContain("does not provide an export named 'absent'")
    expect(error('package')).toContain(
      `Cannot find package 'no-such-package' imported from ${join(folder, 'package.ts')}`,
    )
    expect(error('throws')).toContain('TypeError: at import')
    expect(of(outcome, 'throws').stack).toContain(`${join(folder, 'throws.ts')}:2:7`)
    expect(error('bare')).toContain('cannot find the package "no-such-package"')
    expect(error('slip')).toContain('did you mean "./plain.ts"?')
    expect(error('none')).toContain('the module is no plugin: it exports ok')
    expect(outcome.report.rows.every((row) => row.state === 'failed' && row.file === join(folder, 'p.yml'))).toBe(true)
  })
})
