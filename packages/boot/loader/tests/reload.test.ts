// What a reload does to a running host, row by row. Modules are made up; files and processes are in tests/product.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Context, type Service } from '@deepseek-ai/cordis'
import { stringify } from 'yaml'
import { boot, compose, reloadLines, type ReloadReport } from '@deepseek-ai/dsh-loader'

const folder = mkdtempSync(join(tmpdir(), 'dsh-reload-'))
const file = join(folder, 'app.yml')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let ctx: Context
let log: string[]
let modules: Record<string, unknown>

beforeEach(() => {
  ctx = new Context()
  log = []
  modules = {}
})
afterEach(() => ctx.fiber.dispose())

const write = (rows: unknown): void => writeFileSync(file, typeof rows === 'string' ? rows : stringify(rows))
const row = (id: string, rest: object = {}): object => ({ id, name: `/m/${id}`, ...rest })
const made = () => compose({ presets: [], patches: [file], env: {}, cwd: '/', home: '/', platform: 'linux' })

async function start(rows: unknown[], readyTimeoutMs = 2000): Promise<void> {
  write(rows)
  await boot(made(), {
    ctx,
    readyTimeoutMs,
    recompose: made,
    importModule: async (url) => {
      const name = new URL(url).pathname.slice('/m/'.length)
      log.push(`import ${name}`)
      const module = modules[name]
      if (module instanceof Error) throw module
      if (module === undefined) throw new Error(`no module ${name}`)
      return module
    },
  })
  log.length = 0
}

/** A plugin that notes when it comes and goes, with its version and its config. */
const noting = (version: string, more: (ctx: Context) => void = () => {}, rest: object = {}): object => ({
  ...rest,
  apply: (own: Context, config: unknown) => {
    const what = `${version}${config === undefined ? '' : ` ${JSON.stringify(config)}`}`
    log.push(`+${what}`)
    own.effect(() => () => void log.push(`-${what}`))
    more(own)
  },
})

const providing = (name: string, value: string) => (own: Context) =>
  void own.provide(name as never, { value } as unknown as Service as never)
const kinds = ({ rows }: ReloadReport): Record<string, string> =>
  Object.fromEntries(rows.map((each) => [each.row, each.kind]))
const states = (): Record<string, string> =>
  Object.fromEntries(ctx.loader.rows().map(({ row: id, state }) => [id, state]))

describe('a module that changed', () => {
  it('is imported once more, started after the old one has gone, and no other row is touched', async () => {
    modules = { a: noting('a1'), b: noting('b1') }
    await start([row('a'), row('b')])
    modules['a'] = noting('a2')
    const report = await ctx.loader.reload(['/m/a'])
    expect(log).toEqual(['import a', '-a1', '+a2'])
    expect(report).toMatchObject({ files: ['/m/a'], rows: [{ row: 'a', kind: 'reloaded', because: ['/m/a'] }] })
    expect(reloadLines(report)).toEqual([expect.stringMatching(/^reloaded a \(a\) in \d+ ms$/)])
  })

  it('changes nothing when its file is not one of the host', async () => {
    modules = { a: noting('a1') }
    await start([row('a')])
    expect(await ctx.loader.reload(['/m/other'])).toMatchObject({ rows: [] })
    expect(log).toEqual([])
  })

  it('that cannot be loaded leaves the old one as it runs, and counts once it can', async () => {
    modules = { a: noting('a1') }
    await start([row('a')])
    modules['a'] = new SyntaxError('Unexpected token')
    const report = await ctx.loader.reload(['/m/a'])
    expect(log).toEqual(['import a'])
    expect(report.rows).toMatchObject([{ kind: 'kept', code: 'MODULE_NOT_FOUND' }])
    expect(reloadLines(report)[0]).toMatch(/^kept the old version of a: there is no file/)
    expect(states()).toEqual({ a: 'active' })
    log.length = 0
    modules['a'] = noting('a3')
    expect(kinds(await ctx.loader.reload(['/m/a']))).toEqual({ a: 'reloaded' })
    expect(log).toEqual(['import a', '-a1', '+a3'])
  })

  it('that exports no plugin leaves the old one as it runs', async () => {
    modules = { a: noting('a1') }
    await start([row('a')])
    modules['a'] = { aply: () => {} }
    expect((await ctx.loader.reload(['/m/a'])).rows).toMatchObject([
      { kind: 'kept', code: 'NO_PLUGIN', error: expect.stringContaining('is "aply" meant to be "apply"?') as string },
    ])
    expect(log).toEqual(['import a'])
  })

  it('that throws while starting is put back as it was, with its config', async () => {
    modules = { a: noting('a1') }
    await start([row('a', { config: { n: 1 } })])
    modules['a'] = { apply: () => Promise.reject(new Error('not today')) }
    const report = await ctx.loader.reload(['/m/a'])
    expect(log).toEqual(['import a', '-a1 {"n":1}', '+a1 {"n":1}'])
    expect(report.rows).toMatchObject([{ row: 'a', kind: 'kept', error: 'failed to start: not today' }])
    expect(states()).toEqual({ a: 'active' })
  })

  it('that never gets ready is put back as it was', async () => {
    modules = { a: noting('a1') }
    await start([row('a')], 100)
    modules['a'] = { apply: () => new Promise(() => {}) }
    const report = await ctx.loader.reload(['/m/a'])
    expect(report.rows).toMatchObject([{ kind: 'kept', code: 'ROW_NOT_READY' }])
    expect(log).toEqual(['import a', '-a1', '+a1'])
  })

  it('that asks for a service nobody has is put back, and says which', async () => {
    modules = { a: noting('a1') }
    await start([row('a')])
    modules['a'] = noting('a2', undefined, { inject: ['nobody'] })
    const report = await ctx.loader.reload(['/m/a'])
    expect(report.rows).toMatchObject([{ kind: 'kept', code: 'ROW_WAITING' }])
    expect(report.rows[0]?.error).toMatch(/waits for the service "nobody"/)
    expect(log).toEqual(['import a', '-a1', '+a1'])
  })

  it('starts when it failed at boot', async () => {
    modules = { a: new SyntaxError('Unexpected token') }
    await start([row('a')])
    expect(states()).toEqual({ a: 'failed' })
    modules['a'] = noting('a2')
    expect(kinds(await ctx.loader.reload(['/m/a']))).toEqual({ a: 'reloaded' })
    expect(states()).toEqual({ a: 'active' })
    expect(ctx.loader.problems()).toEqual([])
  })

  it('does not stop another one of the same change', async () => {
    modules = { a: noting('a1'), b: noting('b1') }
    await start([row('a'), row('b')])
    modules = { a: new Error('broken'), b: noting('b2') }
    expect(kinds(await ctx.loader.reload(['/m/a', '/m/b']))).toEqual({ a: 'kept', b: 'reloaded' })
    expect(log.slice(2)).toEqual(['-b1', '+b2'])
  })

  it('takes those along that use its service', async () => {
    modules = {
      a: noting('a1', providing('bell', 'one')),
      b: noting('b', (own) => void log.push((own as unknown as { bell: { value: string } }).bell.value), {
        inject: ['bell'],
      }),
    }
    await start([row('a'), row('b')])
    modules['a'] = noting('a2', providing('bell', 'two'))
    expect(kinds(await ctx.loader.reload(['/m/a']))).toEqual({ a: 'reloaded' })
    expect(log.toSorted()).toEqual(['+a2', '+b', '-a1', '-b', 'import a', 'two'])
    expect(log.indexOf('-b')).toBeLessThan(log.indexOf('+b'))
    expect(log.at(-1)).toBe('two')
    expect(states()).toEqual({ a: 'active', b: 'active' })
  })

  it('of a provider that fails is put back together with those that use it', async () => {
    modules = { a: noting('a1', providing('bell', 'one')), b: noting('b1', undefined, { inject: ['bell'] }) }
    await start([row('a'), row('b')])
    modules = { a: { apply: () => Promise.reject(new Error('no')) }, b: noting('b2', undefined, { inject: ['bell'] }) }
    expect(kinds(await ctx.loader.reload(['/m/a', '/m/b']))).toEqual({ a: 'kept', b: 'reloaded' })
    expect(states()).toEqual({ a: 'active', b: 'active' })
    expect(log.at(-1)).toBe('+b2')
  })
})

describe('a composition that changed', () => {
  it('adds, removes and configures rows, importing only what is new', async () => {
    modules = { a: noting('a'), b: noting('b'), c: noting('c') }
    await start([row('a', { config: { n: 1 } }), row('b')])
    write([row('c'), row('a', { config: { n: 2 } })])
    const report = await ctx.loader.reload([file])
    expect(kinds(report)).toEqual({ a: 'reloaded', b: 'removed', c: 'added' })
    expect(log).toEqual(['import c', '-a {"n":1}', '-b', '+c', '+a {"n":2}'])
    expect(ctx.loader.rows().map((each) => each.row)).toEqual(['c', 'a'])
    expect(reloadLines(report)).toEqual([
      expect.stringMatching(/^added c in/),
      expect.stringMatching(/^reloaded a \(config\) in/),
      'removed b',
    ])
  })

  it('that cannot be read leaves everything as it is, and says where', async () => {
    modules = { a: noting('a') }
    await start([row('a')])
    write('- name: /m/a\n  confg: {}\n')
    const report = await ctx.loader.reload([file])
    expect(report).toMatchObject({ rows: [] })
    expect(report.error).toMatch(/app\.yml:2:3: unknown field "confg"/)
    expect(log).toEqual([])
    write([row('a', { config: 1 })])
    expect(kinds(await ctx.loader.reload([file]))).toEqual({ a: 'reloaded' })
  })

  it('with a config that the plugin refuses keeps the old one, and does not try it again with every other change', async () => {
    const Config = {
      '~standard': {
        version: 1,
        vendor: 'test',
        validate: (value: { n: number }) => (value.n > 0 ? { value } : { issues: [{ message: 'n must be positive' }] }),
      },
    }
    modules = { a: noting('a', undefined, { Config }), b: noting('b1') }
    await start([row('a', { config: { n: 1 } }), row('b')])
    write([row('a', { config: { n: -1 } }), row('b')])
    const report = await ctx.loader.reload([file])
    expect(report.rows).toMatchObject([{ row: 'a', kind: 'kept' }])
    expect(report.rows[0]?.error).toMatch(/n must be positive/)
    expect(log).toEqual(['-a {"n":1}', '+a {"n":1}'])
    log.length = 0
    modules['b'] = noting('b2')
    expect(kinds(await ctx.loader.reload(['/m/b']))).toEqual({ b: 'reloaded' })
    expect(log).toEqual(['import b', '-b1', '+b2'])
    write([row('a', { config: { n: 3 } }), row('b')])
    expect(kinds(await ctx.loader.reload([file]))).toEqual({ a: 'reloaded' })
  })

  it('disables a row and starts it again', async () => {
    modules = { a: noting('a') }
    await start([row('a')])
    write([row('a', { disabled: true })])
    expect(kinds(await ctx.loader.reload([file]))).toEqual({ a: 'reloaded' })
    expect(states()).toEqual({ a: 'disabled' })
    write([row('a')])
    await ctx.loader.reload([file])
    expect(states()).toEqual({ a: 'active' })
    expect(log.filter((line) => !line.startsWith('import'))).toEqual(['-a', '+a'])
  })

  it('changes rows of a group alone, and all of them when the group itself is different', async () => {
    modules = { a: noting('a'), b: noting('b') }
    const group = (config: unknown[], rest: object = {}): object => ({ id: 'g', group: true, config, ...rest })
    await start([group([row('a'), row('b')])])
    write([group([row('a'), row('b', { config: 2 })])])
    expect(kinds(await ctx.loader.reload([file]))).toEqual({ b: 'reloaded' })
    expect(log).toEqual(['-b', '+b 2'])
    log.length = 0
    write([group([row('a'), row('b', { config: 2 })], { isolate: { bell: true } })])
    expect(kinds(await ctx.loader.reload([file]))).toEqual({ g: 'reloaded', a: 'reloaded', b: 'reloaded' })
    expect(log.toSorted()).toEqual(['+a', '+b 2', '-a', '-b 2'])
    expect(states()).toEqual({ g: 'active', a: 'active', b: 'active' })
    log.length = 0
    write([])
    expect(kinds(await ctx.loader.reload([file]))).toEqual({ g: 'removed', a: 'removed', b: 'removed' })
    expect(log.toSorted()).toEqual(['-a', '-b 2'])
  })

  it('reports an added row that does not start, and starts it once it can', async () => {
    await start([])
    write([row('a')])
    const report = await ctx.loader.reload([file])
    expect(report.rows).toMatchObject([{ row: 'a', kind: 'failed' }])
    expect(reloadLines(report)[0]).toMatch(/^a did not start: /)
    expect(ctx.loader.problems()).toMatchObject([{ row: 'a', state: 'failed' }])
    modules['a'] = noting('a')
    expect(kinds(await ctx.loader.reload(['/m/a']))).toEqual({ a: 'reloaded' })
  })
})

it('runs one reload after the other, and tells of each', async () => {
  modules = { a: noting('a1') }
  await start([row('a')])
  const told: ReloadReport[] = []
  ctx.on('loader/reload', (report) => void told.push(report))
  modules['a'] = { apply: async () => new Promise<void>((resolve) => setTimeout(resolve, 30)) }
  const first = ctx.loader.reload(['/m/a'])
  const second = ctx.loader.reload(['/m/a'])
  expect(kinds(await first)).toEqual({ a: 'reloaded' })
  expect(kinds(await second)).toEqual({ a: 'reloaded' })
  expect(told).toHaveLength(2)
  expect(log.filter((line) => line === 'import a')).toHaveLength(2)
})

it('leaves nothing behind of 300 reloads', async () => {
  modules = { a: noting('a', (own) => void own.on('internal/status' as never, (() => {}) as never)) }
  await start([row('a')])
  const sizes = (): unknown => [ctx.registry.size, ctx.fiber.getEffects().length]
  await ctx.loader.reload(['/m/a'])
  log.length = 0
  const before = sizes()
  for (let round = 0; round < 300; round++) await ctx.loader.reload(['/m/a'])
  expect(sizes()).toEqual(before)
  expect(log.filter((line) => line === '-a')).toHaveLength(300)
})
