// Bytes that nobody asked to change: every encoding with every line ending through the tools, and random edits of random files.
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHost, type Host } from '@deepseek-ai/cordis'
import { FsLocal } from '@deepseek-ai/dsh-fs-local'
import { ToolRegistry, type ToolExecutionResult } from '@deepseek-ai/dsh-tools'
import * as toolFs from '@deepseek-ai/dsh-tool-fs'
import type { ChangeValue } from '@deepseek-ai/dsh-tool-fs'
import { agentAt, changeOf, told, readOf } from '../support.ts'

let host: Host
let dir: string
let path: string

beforeAll(async () => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), 'dsh-tool-fs-bytes-')))
  path = join(dir, 'a.txt')
  host = createHost()
  await host.ctx.plugin(ToolRegistry)
  await host.ctx.plugin(FsLocal)
  await host.ctx.plugin(toolFs)
})

afterAll(async () => {
  await host.dispose()
  rmSync(dir, { recursive: true, force: true })
})

const call = (name: string, args: unknown): Promise<ToolExecutionResult> =>
  host.ctx.tools.execute({
    callId: 'c1',
    name,
    arguments: args,
    signal: new AbortController().signal,
    agent: agentAt(dir),
  })

const ENDINGS = { LF: '\n', CRLF: '\r\n', CR: '\r' } as const

interface Form {
  readonly encode: (text: string) => Buffer
  /** How the tools call it. */
  readonly encoding: string
  readonly bom: boolean
}

const before = (bytes: readonly number[], text: Buffer): Buffer => Buffer.concat([Buffer.from(bytes), text])

const FORMS: Readonly<Record<string, Form>> = {
  'UTF-8': { encode: (text) => Buffer.from(text), encoding: 'utf-8', bom: false },
  'UTF-8 with BOM': { encode: (text) => before([0xef, 0xbb, 0xbf], Buffer.from(text)), encoding: 'utf-8', bom: true },
  'UTF-16LE': { encode: (text) => before([0xff, 0xfe], Buffer.from(text, 'utf16le')), encoding: 'utf-16le', bom: true },
  'UTF-16BE': {
    encode: (text) => before([0xfe, 0xff], Buffer.from(text, 'utf16le').swap16()),
    encoding: 'utf-16be',
    bom: true,
  },
  // Characters above ASCII in the first line: none of them valid UTF-8.
  'Latin-1': { encode: (text) => before([0xfc, 0x20], Buffer.from(text, 'latin1')), encoding: 'bytes', bom: false },
  GBK: { encode: (text) => before([0xc4, 0xe3, 0xba, 0xc3, 0x20], Buffer.from(text)), encoding: 'bytes', bom: false },
  'Shift-JIS': { encode: (text) => before([0x82, 0xa0, 0x20], Buffer.from(text)), encoding: 'bytes', bom: false },
}

describe.each(Object.entries(FORMS))('%s', (_name, { encode, encoding, bom }) => {
  const cases = [...Object.entries(ENDINGS), ['mixed', undefined] as const].flatMap(([name, ending]) =>
    [true, false].map((final) => ({ name, ending, final })),
  )

  it.each(cases)('with $name endings (final one: $final) is read, edited and written as it is', async (form) => {
    const { ending, final } = form
    const all = ending === undefined ? (['\r\n', '\n', '\n'] as const) : ([ending, ending, ending] as const)
    const file = (...lines: readonly [string, string, string]): Buffer =>
      encode(`${lines[0]}${all[0]}${lines[1]}${all[1]}${lines[2]}${final ? all[2] : ''}`)
    writeFileSync(path, file('one', 'two', 'three'))

    const read = readOf(await call('read', { path }))
    const eol = ending === undefined ? 'mixed' : form.name.toLowerCase()
    expect(read.lines.map(({ text }) => text).slice(1)).toEqual(['two', 'three'])
    expect(read.fingerprint).toMatchObject({ encoding, bom, eol, finalNewline: final })

    const edited = await call('edit', { path, old_text: 'two\nthree', new_text: '2\nthree' })
    expect(readFileSync(path)).toEqual(file('one', '2', 'three'))
    expect(changeOf(edited).receipt.after).toMatchObject({ encoding, bom, eol, finalNewline: final })

    if (ending === undefined) return // a text with one kind of ending replaces one that mixes them
    const first = read.lines[0]?.text ?? ''
    await call('write', { path, content: `${first}\nzwei\ndrei${final ? '\n' : ''}` })
    expect(readFileSync(path)).toEqual(file('one', 'zwei', 'drei'))
  })
})

/** Small alphabets, so that texts repeat and line endings meet. */
const piece = fc.constantFrom('a', 'b', 'ab', ' ', '\t', '  x', 'é', '😀', '\n', '\r\n', '\r', '\u{2028}', 'end')
const text = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(''))

interface Edit {
  readonly old_text: string
  readonly new_text: string
  readonly replace_all?: boolean
}

const edits = fc.array(fc.record({ old_text: fc.oneof(piece, text), new_text: text, replace_all: fc.boolean() }), {
  minLength: 1,
  maxLength: 4,
})

/** What lies outside the ranges of the new file, and in their place in the old one. */
function outsideOf(old: Buffer, now: Buffer, { ranges }: ChangeValue['receipt']): [Buffer, Buffer] {
  const kept: Buffer[] = []
  let at = 0
  for (const { start, end } of ranges) {
    kept.push(now.subarray(at, start))
    at = end
  }
  kept.push(now.subarray(at))
  // In the old file the same pieces stand in the same order, the first at its start and the last at its end.
  let from = 0
  const found: Buffer[] = []
  for (const [index, bytes] of kept.entries()) {
    const place = index === 0 ? 0 : index === kept.length - 1 ? old.length - bytes.length : old.indexOf(bytes, from)
    if (place < from) return [Buffer.concat(kept), Buffer.alloc(0)]
    found.push(old.subarray(place, place + bytes.length))
    from = place + bytes.length
  }
  return [Buffer.concat(kept), Buffer.concat(found)]
}

/** The lines of the file that a model is told, apart from notes in brackets and the byte order mark. */
function numberedLines(shown: string): { readonly number: number; readonly line: string }[] {
  return shown.split('\n').flatMap((each) => {
    const [, number, line = ''] = /^(\d+)\t([^]*)$/.exec(each) ?? []
    return number === undefined ? [] : [{ number: Number(number), line }]
  })
}

describe('random edits of random files', () => {
  it('leave every byte outside the reported ranges as it was, or change nothing at all', async () => {
    await fc.assert(
      fc.asyncProperty(text, edits, fc.boolean(), async (content, asked, bom) => {
        const old = Buffer.from(bom ? `\u{feff}${content}` : content)
        writeFileSync(path, old)
        const result = await call('multi_edit', { path, edits: asked })
        const now = readFileSync(path)
        if (result.isError) {
          expect(now).toEqual(old)
          return
        }
        const { receipt } = changeOf(result)
        const [kept, found] = outsideOf(old, now, receipt)
        expect(kept).toEqual(found)
        expect(receipt.before).toMatchObject({ bytes: old.length, bom })
        expect(receipt.after).toMatchObject({ bytes: now.length, bom })
        const lines = now
          .toString()
          .replace(/^\u{feff}/u, '')
          .split(/\r\n|\n|\r/)
        for (const { number, line } of numberedLines(told(result))) expect(line).toBe(lines[number - 1])
      }),
      { numRuns: 150, seed: 5 },
    )
  })

  it('are undone byte for byte by the opposite edit', async () => {
    const line = fc.stringMatching(/^[a-z ]{0,8}$/)
    const file = fc.array(fc.tuple(line, fc.constantFrom('\n', '\r\n')), { minLength: 1, maxLength: 20 })
    await fc.assert(
      fc.asyncProperty(file, fc.nat(), fc.stringMatching(/^[a-zé]{1,12}$/), async (lines, place, word) => {
        // The marks make either text occur once.
        const at = place % lines.length
        const marked = lines.map(([each, ending], index) => (index === at ? `<${each}>` : each) + ending).join('')
        writeFileSync(path, marked)
        const old = readFileSync(path)
        const edit: Edit = { old_text: `<${lines[at]?.[0]}>`, new_text: `<<${word}>>` }
        expect((await call('edit', { path, ...edit })).isError).toBe(false)
        expect(readFileSync(path)).not.toEqual(old)
        const undone = await call('edit', { path, old_text: edit.new_text, new_text: edit.old_text })
        expect(undone.isError).toBe(false)
        expect(readFileSync(path)).toEqual(old)
      }),
      { numRuns: 100, seed: 6 },
    )
  })

  it('are undone byte for byte from what the receipt and the hunks say', async () => {
    const row = fc.constantFrom('same', 'other', '  deep', '', 'é😀')
    const file = fc.array(row, { minLength: 1, maxLength: 30 })
    await fc.assert(
      fc.asyncProperty(file, file, async (oldRows, newRows) => {
        const [old, now] = [`${oldRows.join('\n')}\n`, `${newRows.join('\n')}\n`]
        writeFileSync(path, old)
        const result = await call('write', { path, content: now })
        expect(readFileSync(path, 'utf8')).toBe(now)
        const { hunks } = changeOf(result)
        const lines = now.match(/[^\n]*\n/g) ?? []
        for (const { newStart, oldText, newText } of hunks.toReversed()) {
          const count = newText.match(/[^\n]*\n/g)?.length ?? 0
          lines.splice(newStart - 1, count, oldText)
        }
        expect(lines.join('')).toBe(old)
      }),
      { numRuns: 150, seed: 7 },
    )
  })
})
