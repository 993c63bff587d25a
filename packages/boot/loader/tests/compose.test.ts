import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { compose, dump, LoaderError, type ComposeOptions, type Composition } from '@deepseek-ai/dsh-loader'

let folder: string
let count = 0

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'dsh-compose-'))
  mkdirSync(join(folder, 'sub'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function yml(text: string, name = `${++count}.yml`): string {
  const file = join(folder, name)
  writeFileSync(file, text)
  return file
}

const surroundings = { env: {}, cwd: '/work', home: '/home/me/.dsh', platform: 'linux' }

function composed(preset: string, patches: string[] = [], options: Partial<ComposeOptions> = {}): Composition {
  return compose({ presets: [yml(preset)], patches: patches.map((text) => yml(text)), ...surroundings, ...options })
}

function failure(work: () => unknown): LoaderError {
  try {
    work()
  } catch (error) {
    if (error instanceof LoaderError) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

const ids = (composition: Composition): string[] => composition.rows.map((row) => row.id)

describe('rows', () => {
  it('reads every field and derives the id from the last segment of the module', () => {
    const { rows } = composed(`
- name: '@deepseek-ai/dsh-tools'
- id: b
  name: pkg
  config: { a: [1, { b: true }] }
  disabled: false
  inject: [tools]
  isolate: { shell: true, fs: shared }
  when: { platform: linux }
  required: false
- name: ./plugins/my-plugin.ts
- id: g
  group: true
  inject: { tools: true, llm: { level: 2 } }
  config:
    - name: inner
`)
    expect(rows.map(({ id, name }) => [id, name])).toEqual([
      ['dsh-tools', '@deepseek-ai/dsh-tools'],
      ['b', 'pkg'],
      ['my-plugin', join(folder, 'plugins/my-plugin.ts')],
      ['g', undefined],
    ])
    expect(rows[1]).toMatchObject({
      config: { a: [1, { b: true }] },
      disabled: false,
      required: false,
      inject: { tools: null },
      isolate: { shell: true, fs: 'shared' },
    })
    expect(rows[3]).toMatchObject({ inject: { tools: null, llm: { level: 2 } }, rows: [{ id: 'inner' }] })
  })

  it('makes rows of presets required and rows of patches optional, unless they say otherwise', () => {
    const { rows } = composed('[{id: a, name: a}, {id: b, name: b, required: false}]', [
      '[{id: c, name: c}, {id: d, name: d, required: true}, {id: b, required: true}]',
    ])
    expect(rows.map((row) => row.required)).toEqual([true, true, false, true])
  })

  it('resolves relative modules against the file that names them, nested and inserted rows included', () => {
    const patch = yml('- insert: [{name: ../up.ts}, {id: g, group: true, config: [{name: ./deep.ts}]}]', 'sub/p.yml')
    const { rows } = compose({ presets: [yml('[]')], patches: [patch], ...surroundings })
    expect(rows[0]?.name).toBe(join(folder, 'up.ts'))
    expect(rows[1]?.rows?.[0]?.name).toBe(join(folder, 'sub/deep.ts'))
  })

  it('takes file URLs and absolute paths as they are', () => {
    const { rows } = composed('[{name: "file:///x/a%20b.ts"}, {name: /y/c.mjs}]')
    expect(rows.map(({ id, name }) => [id, name])).toEqual([
      ['a b', '/x/a b.ts'],
      ['c', '/y/c.mjs'],
    ])
  })

  it('leaves out rows whose `when` does not hold, and says why', () => {
    const text = `
- { id: mac, name: m, when: { platform: [darwin, win32] } }
- { id: here, name: h, when: { platform: [linux, darwin], env: HERE } }
- { id: unset, name: u, when: { env: EMPTY } }
- { id: value, name: v, when: { env: { CI: true, GONE: null } } }
- { id: other, name: o, when: { env: { CI: 'false' } } }
- { id: gone, name: x, when: { env: { CI: null } } }
- { id: g, group: true, when: { platform: win32 }, config: [{ id: child, name: c, config: '\${env.NOT_SET}' }] }
`
    const composition = composed(text, [], { env: { HERE: '1', EMPTY: '', CI: 'true' } })
    expect(ids(composition)).toEqual(['here', 'value'])
    expect(composition.skipped).toEqual([
      { id: 'mac', name: 'm', reason: 'only on darwin, win32; this is linux' },
      { id: 'unset', name: 'u', reason: 'only when EMPTY is set' },
      { id: 'other', name: 'o', reason: 'only when CI is "false"' },
      { id: 'gone', name: 'x', reason: 'only when CI is not set' },
      { id: 'g', reason: 'only on win32; this is linux' },
      { id: 'child', name: 'c', reason: 'only on win32; this is linux' },
    ])
  })
})

describe('patches', () => {
  const base = `
- { id: a, name: a, config: { x: 1, deep: { p: 1, q: [1, 2] } } }
- { id: g, group: true, config: [{ id: inner, name: i }] }
`

  it('inserts at the root and into groups, and lets later patches see it', () => {
    const { rows } = composed(base, [
      '[{insert: [{id: n, name: n}]}, {id: g, insert: [{id: m, name: m}]}]',
      '[{id: m, config: {late: true}}, {id: n, disabled: true}]',
    ])
    expect(rows.map((row) => row.id)).toEqual(['a', 'g', 'n'])
    expect(rows[1]?.rows).toMatchObject([{ id: 'inner' }, { id: 'm', config: { late: true } }])
    expect(rows[2]?.disabled).toBe(true)
  })

  it('replaces with `config` and merges with `config+`', () => {
    expect(composed(base, ['[{id: a, config: {y: 2}}]']).rows[0]?.config).toEqual({ y: 2 })
    expect(composed(base, ['[{id: a, config+: {y: 2, deep: {p: null, q: [3]}}}]']).rows[0]?.config).toEqual({
      x: 1,
      y: 2,
      deep: { p: null, q: [3] },
    })
    expect(composed(base, ['- id: a\n  config:']).rows.map((row) => 'config' in row)).toEqual([false, false])
    expect(composed('[{id: a, name: a}]', ['[{id: a, config+: {y: 2}}]']).rows[0]?.config).toEqual({ y: 2 })
  })

  it('takes a plain row as new or, with the same module, as an override', () => {
    const { rows } = composed(base, ['[{id: a, name: a, config: {z: 1}}, {name: fresh}]'])
    expect(rows.map((row) => row.id)).toEqual(['a', 'g', 'fresh'])
    expect(rows[0]?.config).toEqual({ z: 1 })
    expect(failure(() => composed(base, ['[{id: a, name: other}]'])).message).toMatch(
      /:1:2: row "a" is a \(.*\), not other; give the new row another "id"/,
    )
  })

  it('removes rows, groups with all they hold, and lets the id be used again', () => {
    const composition = composed(base, ['[{id: g, remove: true}, {id: inner, name: other}, {id: a, remove: true}]'])
    expect(composition.rows).toMatchObject([{ id: 'inner', name: 'other' }])
  })

  it('replaces the rows of a group with `config`', () => {
    const { rows } = composed(base, ['[{id: g, config: [{id: new, name: n}]}, {id: inner, name: i}]'])
    expect(rows).toMatchObject([{ id: 'a' }, { id: 'g', rows: [{ id: 'new' }] }, { id: 'inner' }])
  })

  it('knows a row by a relative and an absolute name alike', () => {
    const preset = yml('[{name: ./sub/p.ts}]')
    const patch = yml('[{name: ./p.ts, config: {ok: true}}]', 'sub/same.yml')
    expect(compose({ presets: [preset], patches: [patch], ...surroundings }).rows).toMatchObject([
      { config: { ok: true } },
    ])
  })
})

describe('variables', () => {
  const config = (text: string, env: Record<string, string> = {}): unknown =>
    composed(`[{id: a, name: a, config: ${JSON.stringify({ v: text })}}]`, [], { env }).rows[0]?.config

  it('fills in the environment, the working folder and the home folder, as text', () => {
    expect(config('${home}/s in ${cwd} by ${env.USER}', { USER: 'ada' })).toEqual({
      v: '/home/me/.dsh/s in /work by ada',
    })
    expect(config('${env.PORT}', { PORT: '3080' })).toEqual({ v: '3080' })
    expect(config('${env.A:-x:-y}${env.B:-}')).toEqual({ v: 'x:-y' })
    expect(config('${env.A:-x}', { A: '' })).toEqual({ v: 'x' })
    expect(config('${env.A}', { A: '${cwd}' })).toEqual({ v: '${cwd}' })
  })

  it('keeps escaped variables as text', () => {
    expect(config('$${home} $$${x} $5 {}')).toEqual({ v: '${home} $${x} $5 {}' })
  })

  it.each([
    ['${env.MISSING}', 'the environment variable MISSING is not set; set it, or give a default: ${env.MISSING:-…}'],
    ['${hoem}', 'unknown variable "${hoem}"; did you mean "home"?'],
    ['${env.A-B}', 'unknown variable "${env.A-B}"; wanted env.NAME or env.NAME:-default'],
    ['${env.A:-${cwd}}', 'without ${ inside'],
    ['${open', '"${" without "}"'],
  ])('refuses %s, naming row, field and place', (text, wanted) => {
    const error = failure(() => composed(`- id: a\n  name: a\n  config: { list: [{ v: ${JSON.stringify(text)} }] }`))
    expect(error.code).toBe('COMPOSITION_VARIABLE')
    expect(error.message).toContain(`${count}.yml:1:3: row "a", field config.list[0].v: `)
    expect(error.message).toContain(wanted)
  })

  it('asks nothing of rows that do not boot', () => {
    const { rows } = composed(
      '[{id: g, group: true, disabled: true, config: [{id: a, name: a, config: "${env.NONE}"}]}]',
    )
    expect(rows[0]?.rows).toMatchObject([{ disabled: true, config: '${env.NONE}' }])
  })
})

describe('overrides of a command', () => {
  const options = (id: string): Partial<ComposeOptions> => ({
    overrides: [{ id, config: { port: 1, text: '${cwd}' } }],
  })

  it('merge after all patches, with text taken literally', () => {
    const preset = '[{id: a, name: a, config: {port: 0, host: h}}]'
    const composition = composed(preset, ['[{id: a, config+: {port: 5}}]'], options('a'))
    expect(composition.rows[0]?.config).toEqual({ port: 1, host: 'h', text: '${cwd}' })
    expect(dump(composition)).toContain(', the command line\n')
  })

  it('name the command line when the row is not there', () => {
    const error = failure(() => composed('[{id: server, name: a}]', [], options('servr')))
    expect(error.message).toBe('the command line: no row has the id "servr"; did you mean "server"?')
  })
})

describe('strictness', () => {
  it.each([
    ['', '1:1', 'the file is empty; wanted a list of rows, or [] for none'],
    ['# only a comment\n', '1:1', 'the file is empty'],
    ['id: a', '1:1', 'the document must be a list of rows, got a mapping with id'],
    ['- a\n- 3', '1:3', 'an entry must be a mapping, got the string "a"'],
    ['- id: a\n  nmae: b', '2:3', 'unknown field "nmae"; did you mean "name"?'],
    ['- id: a\n  name: b\n  frobnicate: 1', '3:3', 'unknown field "frobnicate"; known: id, name, config'],
    ['- id: 5\n  name: b', '1:7', '"id" must be a string without blanks, got the number 5'],
    [
      '- id: a\n  name: [b]',
      '2:9',
      '"name" must be a package name, ./path, absolute path or file: URL, got a list of 1',
    ],
    ['- name: https://x/y.js', '1:9', 'got the string "https://x/y.js"'],
    ['- {name: a, disabled: "yes"}', '1:23', '"disabled" must be true or false, got the string "yes"'],
    ['- {name: a, inject: tools}', '1:21', '"inject" must be a list of service names or a mapping of them'],
    ['- {name: a, isolate: {fs: 1}}', '1:27', '"isolate.fs" must be true (private) or a label'],
    ['- {name: a, when: {platfrom: x}}', '1:20', 'unknown condition "platfrom"; did you mean "platform"?'],
    ['- {name: a, when: {platform: windows}}', '1:30', 'unknown platform "windows"; did you mean "win32"?'],
    ['- {name: a, when: {platform: linx}}', '1:30', 'did you mean "linux"?'],
    ['- {name: a, when: {env: [A]}}', '1:25', '"when.env" must be a variable name, or a mapping'],
    ['- {disabled: true}', '1:3', 'an entry needs an "id", a "name" or an "insert"'],
    ['- {group: true, config: []}', '1:3', 'a group needs an "id"'],
    ['- {id: g, name: x, group: true}', '1:11', 'a group has no module'],
    ['- insert: [{id: a}]', '1:12', 'a new row needs a "name"'],
    ['- insert: [{name: a, remove: true}]', '1:22', '"remove" belongs to a patch entry of its own'],
    ['- {id: a, insert: [], disabled: true}', '1:23', '"disabled" cannot stand beside "insert"'],
    ['- {id: a, remove: true, config: 1}', '1:25', '"config" cannot stand beside "remove"'],
    ['- {id: a, name: a, config: {}, config+: {}}', '1:32', '"config" replaces and "config+" merges'],
    ['- {id: a, name: a}\n- {id: a, name: a}', '2:3', 'row id "a" is taken by '],
    ['- {name: x/a.ts}\n- {name: y/a.ts}', '2:3', 'row id "a" is taken by '],
    ['- {id: a, name: a, config+: {}}', '1:3', '"config+" merges into an existing row'],
    ['- id: a\n  id: b', '2:3', 'Map keys must be unique'],
    ['- {name: a, config: [1, 2}', '1:26', ''],
    ['- {name: a, config: !!js/function "x"}', '1:21', 'compositions hold data only'],
    ['- {name: a, config: !env X}', '1:21', 'compositions hold data only'],
    ['[]\n---\n[]', '2:1', 'a composition is one YAML document'],
  ])('refuses %j at its place', (text, at, wanted) => {
    const error = failure(() => composed(text))
    expect(error.message).toContain(wanted)
    expect(error.message.startsWith(`${join(folder, `${count}.yml`)}:${at}: `), error.message).toBe(true)
  })

  it.each([
    ['[{id: toosl, disabled: true}]', 'no row has the id "toosl"; did you mean "tools"?', 'COMPOSITION_UNKNOWN_ROW'],
    ['[{id: zzzzzz, remove: true}]', 'no row has the id "zzzzzz"; known: tools, g', 'COMPOSITION_UNKNOWN_ROW'],
    ['[{id: gg, insert: []}]', 'no row has the id "gg"; did you mean "g"?', 'COMPOSITION_UNKNOWN_ROW'],
    ['[{id: tools, insert: []}]', 'cannot insert into "tools": it is the plugin t, not a group', 'COMPOSITION_INVALID'],
    ['[{id: g, config+: {a: 1}}]', 'row "g" is a group; use {id: g, insert: [...]}', 'COMPOSITION_INVALID'],
    ['[{id: g, config: {a: 1}}]', 'the "config" of a group must be a list of rows', 'COMPOSITION_INVALID'],
    ['[{id: g, name: x}]', 'row "g" is a group (', 'COMPOSITION_INVALID'],
    ['[{id: tools, name: other, remove: true}]', 'row "tools" is t (', 'COMPOSITION_INVALID'],
    ['[{insert: [{id: g, name: x}]}]', 'row id "g" is taken by ', 'COMPOSITION_INVALID'],
    [
      '[{id: tools, config+: {a: 1}}]',
      'cannot merge into the config of "tools": it is the string "text"',
      'COMPOSITION_INVALID',
    ],
  ])('refuses the patch %s', (patch, wanted, code) => {
    const error = failure(() => composed('[{id: tools, name: t, config: text}, {id: g, group: true}]', [patch]))
    expect(error.message).toContain(wanted)
    expect(error.code).toBe(code)
  })

  it('names a file that cannot be read', () => {
    const error = failure(() => compose({ presets: [], patches: ['nowhere.yml'], ...surroundings, cwd: folder }))
    expect(error.code).toBe('COMPOSITION_UNREADABLE')
    expect(error.message).toContain(join(folder, 'nowhere.yml'))
  })

  it('keeps a key named __proto__ as a key', () => {
    const { rows } = composed('[{id: a, name: a, config: {x: {}}}]', [
      '[{id: a, config+: {x: {__proto__: {polluted: 1}}}}]',
    ])
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
    expect(rows.map(({ config }) => Object.keys((config as { x: object }).x))).toEqual([['__proto__']])
  })
})

describe('dump', () => {
  it('prints what boots, with the files behind each row, and secrets only as the variables they come from', () => {
    const env = { DEEPSEEK_API_KEY: 'sk-very-secret', NAME: 'ada' }
    const composition = composed(
      `[{id: a, name: a, config: {key: 'Bearer \${env.DEEPSEEK_API_KEY}', who: '\${env.NAME}', esc: '$\${x}'}},
        {id: w, name: w, when: {platform: win32}}]`,
      ['[{id: a, config+: {more: 1}}, {name: b}]'],
      { env },
    )
    const text = dump(composition)
    const [preset, patch] = [composition.presets[0], composition.patches[0]]
    expect(text).not.toContain('very-secret')
    expect(text).toContain('key: Bearer ${env.DEEPSEEK_API_KEY}')
    expect(text).toContain('who: ada')
    expect(text).toContain(`# ${preset}:1, changed by ${patch}\n- id: a`)
    expect(text).toContain(`# ${patch}:1\n- id: b`)
    expect(text).toContain('# left out: w (w), only on win32; this is linux')
    const again = composed(text, [], { env })
    expect(again.rows.map(({ id, config, required }) => ({ id, config, required }))).toEqual(
      composition.rows.map(({ id, config, required }) => ({ id, config, required })),
    )
  })
})

describe('includes', () => {
  const presetFiles = (name: string): string[] => {
    if (name !== 'base') throw new Error(`unknown preset "${name}"; known: base`)
    return [yml('- { id: a, name: pkg-a, config: { x: 1 } }\n', 'base.yml')]
  }

  it('bring in presets and files before the file that names them, each once', () => {
    yml('- include: base\n- { id: b, name: pkg-b }\n', 'team.yml')
    const own = yml('- include: base\n- include: ./team.yml\n- { id: a, config+: { y: 2 } }\n')
    const { rows, presets, patches } = compose({ presets: [], patches: [own], presetFiles, ...surroundings })
    expect(rows.map(({ id, config, required }) => ({ id, config, required }))).toEqual([
      { id: 'a', config: { x: 1, y: 2 }, required: true },
      { id: 'b', config: undefined, required: false },
    ])
    expect([presets, patches]).toEqual([[join(folder, 'base.yml')], [join(folder, 'team.yml'), own]])
  })

  it.each([
    ['- { id: a, name: pkg }\n- include: base\n', /^\S+:2:3: "include" has to come before the other entries/],
    ['- include: nope\n', /^\S+:1:3: unknown preset "nope"; known: base/],
    ['- include: ./loop.yml\n', /it includes itself: \S+ -> \S+loop\.yml -> \S+loop\.yml/],
    ['- include: ./missing.yml\n', /cannot read the composition \S+missing\.yml/],
    ['- include: [base]\n', /"include" .*the name of a preset/],
    ['- { include: base, id: x }\n', /"id" cannot stand beside "include"/],
  ])('refuse %j', (text, message) => {
    yml('- include: ./loop.yml\n', 'loop.yml')
    const files = { presets: [], patches: [yml(text)], presetFiles, ...surroundings }
    expect(failure(() => compose(files)).message).toMatch(message)
  })
})

describe('what set a field', () => {
  const setBy = (preset: string, patches: string[], options: Partial<ComposeOptions> = {}): unknown => {
    const { rows } = composed(preset, patches, options)
    const names = new Map<string, string>()
    for (const { origin } of rows) names.set(origin.file, 'preset')
    return Object.fromEntries(
      Object.entries(rows[0]?.setBy ?? {}).map(([path, { file, line }]) => [
        path,
        `${names.get(file) ?? (line === 0 ? file : 'patch')}:${line}`,
      ]),
    )
  }
  const row = '- id: a\n  name: pkg\n  config: { x: 1, deep: { y: 2, z: 3 } }\n'

  it('is told by path, the last word counting', () => {
    expect(setBy(row, ['- { id: a, config+: { deep: { z: 4 }, w: [1] }, disabled: true }\n'])).toEqual({
      name: 'preset:1',
      'config.x': 'preset:1',
      'config.deep.y': 'preset:1',
      'config.deep.z': 'patch:1',
      'config.w': 'patch:1',
      disabled: 'patch:1',
    })
  })

  it('forgets what was replaced, and names the command line', () => {
    expect(setBy(row, ['- { id: a, config: { v: 1 } }\n'])).toEqual({ name: 'preset:1', 'config.v': 'patch:1' })
    expect(setBy(row, ['- { id: a, config+: { deep: 5 } }\n'])).toMatchObject({ 'config.deep': 'patch:1' })
    const flag = { overrides: [{ id: 'a', config: { x: 9 } }] }
    expect(setBy(row, [], flag)).toMatchObject({ 'config.x': 'the command line:0', 'config.deep.y': 'preset:1' })
  })
})
