import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { stringify } from 'yaml'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { compose, prepareFiles, type Composition } from '@deepseek-ai/dsh-loader'

let folder: string
let count = 0

beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'dsh-prepared-'))))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function write(text: string, name = `${++count}.yml`): string {
  const file = join(folder, name)
  writeFileSync(file, text)
  return file
}

const surroundings = { env: {}, cwd: '/work', home: '/home/me/.dsh', platform: 'linux' }

/** The composition, or the error in its place. */
function outcome(presets: readonly string[], prepared?: string): Composition | string {
  try {
    return compose({ presets, ...surroundings, ...(prepared === undefined ? {} : { prepared }) })
  } catch (error) {
    return String(error)
  }
}

function prepare(...files: string[]): string {
  return write(prepareFiles(files), `${++count}.json`)
}

/** How many files of a set are stored. */
function stored(prepared: string): number {
  return (JSON.parse(readFileSync(prepared, 'utf8')) as { files: unknown[] }).files.length
}

const key = fc.oneof(
  fc.string({ minLength: 1, maxLength: 8 }),
  fc.constantFrom('__proto__', 'id', 'name', 'config', '1'),
)
const json = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.string(),
    fc.double(),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(key, tie('value'), { maxKeys: 3 }),
  ),
})).value
const entry = fc.oneof(
  json,
  fc.record(
    {
      id: fc.oneof(fc.constantFrom('a', 'b'), json),
      name: fc.oneof(fc.constant('x'), json),
      group: fc.constant(true),
      config: json,
      when: fc.oneof(fc.record({ platform: json, env: json }), json),
      inject: json,
      isolate: json,
    },
    { requiredKeys: [] },
  ),
)

describe('prepared files', () => {
  it('compose to the same rows, places and errors as the text they were made from', () => {
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 4 }), (entries) => {
        const file = write(stringify(entries), 'any.yml')
        expect(outcome([file], prepare(file))).toEqual(outcome([file]))
      }),
      { numRuns: 150 },
    )
  })

  it.each([
    ['a row', "# about\n- id: a\n  name: './x.ts'\n  config: { deep: [1, two, null, true, ~] }\n"],
    [
      'an override of a group',
      '- id: g\n  group: true\n  config: [{id: a, name: x}]\n- id: g\n  config: [{id: b, name: y}]\n',
    ],
    ['an unknown field', '- id: a\n  name: x\n  confg: 1\n'],
    ['a key without a value', '- id: a\n  name:\n'],
    ['an explicit key without a value', '- ? id\n  ? name\n'],
    ['a mapping in place of the list', 'a: 1\n'],
    ['an empty file', ''],
    ['a comment alone', '# nothing\n'],
    ['nothing on purpose', '[]\n'],
  ])('tell of %s what the text tells', (_what, text) => {
    const file = write(text)
    expect(outcome([file], prepare(file))).toEqual(outcome([file]))
  })

  it('are parsed again once their text has changed', () => {
    const file = write('- id: a\n  name: x\n')
    const prepared = prepare(file)
    expect(stored(prepared)).toBe(1)
    writeFileSync(file, '- id: b\n  name: x\n')
    expect(outcome([file], prepared)).toMatchObject({ rows: [{ id: 'b' }] })
  })

  it('count wherever the file stands, which relative names are resolved against', () => {
    const text = '- name: ./x.ts\n'
    const prepared = prepare(write(text))
    const moved = write(text)
    expect(outcome([moved], prepared)).toMatchObject({
      rows: [{ name: join(folder, 'x.ts'), origin: { file: moved } }],
    })
  })

  it.each([
    ['an alias', '- &row { id: a, name: x }\n- *row\n'],
    ['a number that is not JSON', '- { id: a, name: x, config: { n: .nan } }\n'],
    ['a negative zero', '- { id: a, name: x, config: { n: -0.0 } }\n'],
  ])('leave out a file with %s, which is parsed as before', (_what, text) => {
    const file = write(text)
    const prepared = prepare(file)
    expect(stored(prepared)).toBe(0)
    expect(outcome([file], prepared)).toEqual(outcome([file]))
  })

  it.each([
    ['is missing', undefined],
    ['is damaged', '{"format":1,"files":[{'],
    ['is of another format', '{"format":2,"files":[]}'],
    ['holds something else', '{"format":1,"files":{"a":1}}'],
  ])('change nothing when their file %s', (_what, content) => {
    const file = write('- id: a\n  name: x\n')
    const prepared = content === undefined ? join(folder, 'none.json') : write(content, `${++count}.json`)
    expect(outcome([file], prepared)).toEqual(outcome([file]))
  })

  it('refuse to be made of what is no YAML', () => {
    expect(() => prepareFiles([write('- {')])).toThrow(/:\d+:\d+: /)
    expect(() => prepareFiles([join(folder, 'none.yml')])).toThrow(/cannot read the composition/)
  })
})
