import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Context, Service } from '@deepseek-ai/cordis'
import { stringify } from 'yaml'
import { boot, compose, problemLine, type BootReport, type RowReport } from '@deepseek-ai/dsh-loader'

const folder = mkdtempSync(join(tmpdir(), 'dsh-boot-'))
const file = join(folder, 'app.yml')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let ctx: Context
let log: string[]

beforeEach(() => {
  ctx = new Context()
  log = []
})
afterEach(() => ctx.fiber.dispose())

class Bell extends Service {
  constructor(ctx: Context) {
    super(ctx, 'bell')
  }
  ring(): string {
    return 'ding'
  }
}

async function booted(rows: unknown[], modules: Record<string, unknown>, readyTimeoutMs = 2000): Promise<BootReport> {
  writeFileSync(file, stringify(rows))
  const composition = compose({ presets: [file], env: {}, cwd: '/', home: '/', platform: 'linux' })
  return boot(composition, {
    ctx,
    readyTimeoutMs,
    importModule: async (url) => {
      const name = url.slice('file:///m/'.length)
      if (!Object.hasOwn(modules, name)) throw new Error(`no module ${name}`)
      const module = modules[name]
      return typeof module === 'function' && module.name === 'importing' ? (module as () => unknown)() : module
    },
  })
}

const row = (id: string, rest: object = {}): object => ({ id, name: `/m/${id}`, ...rest })
const states = (report: { rows: readonly RowReport[] }): Record<string, string> =>
  Object.fromEntries(report.rows.map((each) => [each.row, each.state]))
const of = (report: BootReport, id: string): RowReport => report.rows.find((each) => each.row === id)!

describe('plugin shapes', () => {
  it('starts namespaces, default objects, functions and classes, with their config', async () => {
    const note = (who: string) => (_ctx: Context, config: unknown) => void log.push(`${who} ${JSON.stringify(config)}`)
    const report = await booted(
      ['ns', 'object', 'fn', 'cls', 'cjs'].map((id) => row(id, { config: { id } })),
      {
        ns: { name: 'named', apply: note('ns') },
        object: { default: { apply: note('object') } },
        fn: { default: note('fn') },
        cls: {
          default: class Thing {
            ready(): boolean {
              return true
            }

            constructor(_ctx: Context, config: unknown) {
              log.push(`cls ${JSON.stringify(config)}`)
            }
          },
        },
        cjs: { default: { default: note('cjs') } },
      },
    )
    expect(report.ok).toBe(true)
    expect(log.toSorted()).toEqual(['cjs', 'cls', 'fn', 'ns', 'object'].map((id) => `${id} {"id":"${id}"}`))
  })

  it('keeps the disposer that an `apply` declared with `function` returns', async () => {
    const module = {
      apply() {
        return () => void log.push('disposed')
      },
    }
    await booted([row('a')], {
      a: {
        apply: function apply() {
          return module.apply()
        },
      },
    })
    await ctx.fiber.dispose()
    expect(log).toEqual(['disposed'])
  })

  it('gives two rows of one module a life of their own and leaves the module untouched', async () => {
    const module = Object.freeze({ apply: (_ctx: Context, config: unknown) => void log.push(String(config)) })
    const rows = [
      { id: 'one', name: '/m/a', config: 'first' },
      { id: 'two', name: '/m/a', config: 'second' },
    ]
    expect(states(await booted(rows, { a: module }))).toEqual({ one: 'active', two: 'active' })
    expect(log).toEqual(['first', 'second'])
  })

  it('reads `inject` and `Config` beside a default function', async () => {
    const validate = (value: unknown): object => ({ value: { ...(value as object), checked: true } })
    const fn = (ctx: Context, config: unknown): void =>
      void log.push(`${ctx.get('bell').ring()} ${JSON.stringify(config)}`)
    await booted([row('fn', { config: { a: 1 } }), row('bell')], {
      fn: { default: fn, inject: ['bell'], Config: { '~standard': { version: 1, vendor: 't', validate } } },
      bell: { Bell, default: Bell },
    })
    expect(log).toEqual(['ding {"a":1,"checked":true}'])
  })

  it.each([
    [{}, 'it exports nothing'],
    [{ aply: () => {}, helper: 1 }, 'it exports aply, helper; wanted a function "apply(ctx, config)" or a default'],
    [{ aply: () => {} }, 'is "aply" meant to be "apply"?'],
    [{ default: 'text' }, 'it exports default'],
    [{ apply: () => {}, inject: 'bell' }, '"inject" must be a list of service names or an object, got "bell"'],
    [{ apply: () => {}, Config: {} }, '"Config" must be a Standard Schema'],
  ])('refuses a module that is no plugin: %o', async (module, wanted) => {
    const report = await booted([row('a')], { a: module })
    expect(of(report, 'a')).toMatchObject({
      state: 'failed',
      code: 'NO_PLUGIN',
      error: expect.stringContaining(wanted),
    })
  })
})

describe('failures', () => {
  it('reports each failing row and leaves the rest working', async () => {
    const issues = [{ message: '"port" must be a number, got "x"', path: ['port'] }]
    const report = await booted(
      ['throws', 'rejects', 'config', 'import', 'gone', 'ok'].map((id) => row(id)),
      {
        throws: {
          apply() {
            throw new TypeError('no luck')
          },
        },
        rejects: {
          async apply() {
            throw new Error('later')
          },
        },
        config: { apply() {}, Config: { '~standard': { version: 1, vendor: 't', validate: () => ({ issues }) } } },
        import: async function importing() {
          throw new TypeError('at import')
        },
        ok: { apply: () => void log.push('ok') },
      },
    )
    expect(states(report)).toEqual({
      throws: 'failed',
      rejects: 'failed',
      config: 'failed',
      import: 'failed',
      gone: 'failed',
      ok: 'active',
    })
    expect(of(report, 'throws')).toMatchObject({ error: 'failed to start: no luck', code: 'ROW_FAILED' })
    expect(of(report, 'throws').stack).toContain('boot.test.ts')
    expect(of(report, 'rejects').error).toBe('failed to start: later')
    expect(of(report, 'config')).toMatchObject({
      code: 'ROW_CONFIG',
      error: expect.stringContaining('"port" must be a number'),
    })
    expect(of(report, 'import').error).toContain('there is no file /m/import')
    expect(report.ok).toBe(false)
    expect(report.problems.map((each) => each.row)).toEqual(['throws', 'rejects', 'config', 'import', 'gone'])
    expect(report.problems.slice(0, 1).map(problemLine)).toEqual([
      `${file}:1: row "throws" (/m/throws) failed: failed to start: no luck`,
    ])
    expect(log).toEqual(['ok'])
  })

  it('is in order when only optional rows fail', async () => {
    const apply = (): never => {
      throw new Error('x')
    }
    const report = await booted([row('a', { required: false }), row('b')], { a: { apply }, b: { apply() {} } })
    expect(report).toMatchObject({ ok: true, problems: [{ row: 'a' }] })
  })

  it('gives up on a start and on an import that never settle, and takes the row back when it does', async () => {
    let finish = (): void => {}
    const slow = new Promise<void>((resolve) => {
      finish = resolve
    })
    const report = await booted(
      [row('start'), row('import'), row('ok')],
      {
        start: { apply: () => slow },
        import: async function importing() {
          await slow
        },
        ok: { apply() {} },
      },
      50,
    )
    expect(states(report)).toEqual({ start: 'failed', import: 'failed', ok: 'active' })
    expect(of(report, 'start')).toMatchObject({ code: 'ROW_NOT_READY', error: expect.stringContaining('after 50 ms') })
    const change = new Promise<RowReport>((resolve) => void ctx.on('loader/change', resolve))
    finish()
    expect(await change).toMatchObject({ row: 'start', state: 'active' })
    expect(states(ctx.loader.report())['start']).toBe('active')
  })
})

describe('waiting', () => {
  it('names the missing services and who could provide them', async () => {
    const rows = [
      { id: 'lonely', name: '/m/wants', inject: ['tools'] },
      { id: 'blocked', name: '/m/other', inject: ['bell'] },
      { id: 'bell', name: '/m/bell' },
    ]
    const report = await booted(rows, {
      wants: { inject: ['nothing'], apply() {} },
      other: { apply() {} },
      bell: {
        provide: 'bell',
        apply() {
          throw new Error('cracked')
        },
      },
    })
    expect(states(report)).toEqual({ lonely: 'waiting', blocked: 'waiting', bell: 'failed' })
    expect(of(report, 'lonely')).toMatchObject({
      missing: ['nothing', 'tools'],
      error:
        'waits for the service "nothing": no row provides it; ' +
        'waits for the service "tools": no row provides it; add a row with name: @deepseek-ai/dsh-tools',
    })
    expect(of(report, 'blocked').error).toBe('waits for the service "bell": row "bell" provides it, and is failed')
  })

  it('starts a row whose service comes from a later row', async () => {
    const apply = (ctx: Context): void => void log.push(ctx.get('bell').ring())
    const report = await booted([row('user', { inject: ['bell'] }), row('bell')], {
      user: { apply },
      bell: { default: Bell },
    })
    expect(states(report)).toEqual({ user: 'active', bell: 'active' })
    expect(log).toEqual(['ding'])
  })

  it('follows what happens later: a provider that goes takes its consumers to waiting', async () => {
    let stop: () => unknown = () => undefined
    await booted([row('user', { inject: ['bell'] }), row('bell')], {
      user: { apply() {} },
      bell: {
        apply(ctx: Context): void {
          stop = ctx.provide('bell', new Map())
        },
      },
    })
    expect(ctx.loader.report().ok).toBe(true)
    await stop()
    expect(ctx.loader.problems()).toMatchObject([{ row: 'user', state: 'waiting', missing: ['bell'] }])
    expect(ctx.loader.report().ok).toBe(false)
  })
})

describe('structure', () => {
  it('nests groups, starts nothing that is disabled, and ends a group with all it holds', async () => {
    const plugin = {
      apply(ctx: Context, config: unknown) {
        log.push(`+${String(config)}`)
        ctx.effect(() => () => void log.push(`-${String(config)}`))
      },
    }
    const rows = [
      {
        id: 'g',
        group: true,
        config: [row('a', { config: 'a' }), { id: 'h', group: true, config: [row('b', { config: 'b' })] }],
      },
      { id: 'off', group: true, disabled: true, config: [row('c')] },
      row('d', { disabled: true }),
    ]
    const report = await booted(rows, { a: plugin, b: plugin })
    expect(states(report)).toEqual({
      g: 'active',
      a: 'active',
      h: 'active',
      b: 'active',
      off: 'disabled',
      c: 'disabled',
      d: 'disabled',
    })
    expect(report.ok).toBe(true)
    await ctx.fiber.dispose()
    expect(log.slice(0, 2)).toEqual(['+a', '+b'])
    expect(log.slice(2).toSorted()).toEqual(['-a', '-b'])
  })

  it('holds the rows of a group back until what the group waits for is there', async () => {
    const rows = [{ id: 'g', group: true, inject: ['bell'], config: [row('a')] }]
    const report = await booted(rows, { a: { apply() {} } })
    expect(states(report)).toEqual({ g: 'waiting', a: 'waiting' })
    expect(of(report, 'a').error).toBe('waits for its group "g", which is waiting')
    const settled = new Promise<void>((resolve) => {
      ctx.on('loader/change', ({ row, state }) => {
        if (row === 'a' && state === 'active') resolve()
      })
    })
    ctx.provide('bell', {})
    await settled
    expect(states(ctx.loader.report())).toEqual({ g: 'active', a: 'active' })
  })

  it('gives isolated rows a realm of their own, and rows of one label the same realm', async () => {
    const provide = (value: string) => ({ apply: (ctx: Context) => void ctx.provide('thing', value) })
    const read = { inject: ['thing'], apply: (ctx: Context) => void log.push(ctx.get('thing')) }
    const rows = [
      row('outer'),
      row('shared', { isolate: { thing: 'x' } }),
      { id: 'reader', name: '/m/read', isolate: { thing: 'x' } },
      { id: 'plain', name: '/m/read' },
      { id: 'alone', name: '/m/read', isolate: { thing: true } },
    ]
    const report = await booted(rows, { outer: provide('outside'), shared: provide('inside'), read })
    expect(log.toSorted()).toEqual(['inside', 'outside'])
    expect(states(report)['alone']).toBe('waiting')
  })
})
