// The file provider on a real disk: exact edits in every encoding and line ending, and what a write proves.
import {
  chmodSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHost, type Host } from '@deepseek-ai/cordis'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Fs, FsEdit } from '../../../fs/src/index.ts'
import { FsLocal } from '../../src/index.ts'

let host: Host
let fs: Fs
let folder: string

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'dsh-fs-local-'))
  host = createHost()
  await host.ctx.plugin(FsLocal)
  fs = host.ctx.fs
})

afterEach(async () => {
  await host.dispose()
  rmSync(folder, { recursive: true, force: true })
})

const at = (name: string): string => join(folder, name)
const put = (name: string, bytes: string | Uint8Array): void => writeFileSync(at(name), bytes)
const bytesOf = (name: string): Buffer => readFileSync(at(name))

async function edit(name: string, ...edits: FsEdit[]) {
  return fs.edit(await fs.resolve(at(name)), edits)
}

const ENDINGS = { lf: '\n', crlf: '\r\n', cr: '\r' } as const
const ENCODINGS: Record<string, (text: string) => Buffer> = {
  'utf-8': (text) => Buffer.from(text),
  'utf-8 with BOM': (text) => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(text)]),
  'utf-16le': (text) => Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, 'utf16le')]),
  'utf-16be': (text) => Buffer.concat([Buffer.from([0xfe, 0xff]), Buffer.from(text, 'utf16le').swap16()]),
  // An umlaut in Latin-1, two characters of GBK, one of Shift-JIS: none of them valid UTF-8.
  'latin-1': (text) => Buffer.concat([Buffer.from([0xfc, 0x20]), Buffer.from(text, 'latin1')]),
  gbk: (text) => Buffer.concat([Buffer.from([0xc4, 0xe3, 0xba, 0xc3, 0x20]), Buffer.from(text, 'latin1')]),
  'shift-jis': (text) => Buffer.concat([Buffer.from([0x82, 0xa0, 0x20]), Buffer.from(text, 'latin1')]),
}

const withBom = (text: string): Buffer => Buffer.from(`\u{feff}${text}`)

describe('an edit', () => {
  for (const [encoding, encode] of Object.entries(ENCODINGS)) {
    for (const [eol, ending] of Object.entries(ENDINGS)) {
      it.each([true, false])(`keeps ${encoding} with ${eol} endings (final one: %s)`, async (final) => {
        const lines = (middle: string): Buffer => encode(['one', middle, 'three'].join(ending) + (final ? ending : ''))
        put('a', lines('two'))
        await edit('a', { oldText: 'one\ntwo', newText: 'one\n2\ntwo and a half' })
        expect(bytesOf('a')).toEqual(lines(`2${ending}two and a half`))
      })
    }
  }

  it('keeps the endings of lines that it does not change in a file that mixes them', async () => {
    put('a', 'one\r\ntwo\nthree\r\nfour\n')
    await edit('a', { oldText: 'one\ntwo\nthree', newText: 'one\nTWO\nthree' })
    expect(bytesOf('a').toString()).toMatch(/^one\r\nTWO\r?\nthree\r\nfour\n$/)
  })

  it('names the strategy and the range, and keeps the mode', async () => {
    put('a.sh', '#!/bin/sh\necho hi\n')
    chmodSync(at('a.sh'), 0o755)
    const { receipt, hunks } = await edit('a.sh', { oldText: 'echo hi', newText: 'echo ho' })
    expect(receipt).toMatchObject({
      strategy: 'exact',
      ranges: [{ start: 16, end: 17 }],
      lines: { added: 1, removed: 1 },
    })
    expect(statSync(at('a.sh')).mode & 0o777).toBe(0o755)
    expect(hunks).toEqual([
      { oldStart: 1, newStart: 1, oldText: '#!/bin/sh\necho hi\n', newText: '#!/bin/sh\necho ho\n' },
    ])
  })

  it('tolerates white space, says so, and writes in the indentation of the file', async () => {
    put('a.py', 'def f():\n\tif x:\n\t\treturn  1\n')
    const { receipt } = await edit('a.py', {
      oldText: '    if x:\n        return 1',
      newText: '    if x:\n        y()\n        return 1',
    })
    expect(receipt.strategy).toBe('whitespace')
    expect(bytesOf('a.py').toString()).toBe('def f():\n\tif x:\n\t\ty()\n\t\treturn  1\n')
  })

  it('fails with the places when the text is there more than once, and changes nothing', async () => {
    put('a', 'x\ny\nx\n')
    await expect(edit('a', { oldText: 'x', newText: 'z' })).rejects.toMatchObject({
      code: 'FS_AMBIGUOUS_EDIT',
      message: expect.stringContaining('2 places: lines 1, 3'),
    })
    expect(bytesOf('a').toString()).toBe('x\ny\nx\n')
    await edit('a', { oldText: 'x', newText: 'z', all: true })
    expect(bytesOf('a').toString()).toBe('z\ny\nz\n')
  })

  it('shows the closest lines when the text is not there', async () => {
    put('a', 'const total = sum(values)\nreturn total\n')
    await expect(edit('a', { oldText: 'const total = add(values)', newText: 'x' })).rejects.toMatchObject({
      code: 'FS_EDIT_NOT_FOUND',
      message: expect.stringContaining('1: const total = sum(values)'),
    })
  })

  it('refuses texts that are glued together from two places', async () => {
    put('a', `${Array.from({ length: 50 }, (_, index) => `line ${index}`).join('\n')}\n`)
    await expect(edit('a', { oldText: 'line 10\nline 40', newText: 'gone' })).rejects.toMatchObject({
      code: 'FS_EDIT_NOT_FOUND',
      message: expect.stringContaining('must be one piece'),
    })
  })

  it.each(['// ... rest of the code', '# … existing code …', '/* ... unchanged ... */', '<!-- ... -->existing'])(
    'refuses the placeholder %j or takes it as the text that it is',
    async (line) => {
      put('a', 'one\ntwo\n')
      const made = edit('a', { oldText: 'one', newText: `1\n${line}` })
      if (line.endsWith('existing')) await made
      else await expect(made).rejects.toMatchObject({ code: 'FS_INVALID_EDIT' })
    },
  )

  it('makes all edits or none', async () => {
    put('a', 'one\ntwo\nthree\n')
    await expect(edit('a', { oldText: 'one', newText: '1' }, { oldText: 'four', newText: '4' })).rejects.toMatchObject({
      code: 'FS_EDIT_NOT_FOUND',
      message: expect.stringContaining('edit 2 of 2'),
    })
    expect(bytesOf('a').toString()).toBe('one\ntwo\nthree\n')
    await edit('a', { oldText: 'one', newText: '1' }, { oldText: '1\ntwo', newText: '1\n2' })
    expect(bytesOf('a').toString()).toBe('1\n2\nthree\n')
  })

  it('leaves every byte outside its ranges as it was, whatever the file and the edits', async () => {
    const piece = fc.constantFrom('a', 'b', 'é', '😀', ' ', '\t', '\n', '\r\n', 'word', '{', '}')
    const text = fc.array(piece, { minLength: 1, maxLength: 60 }).map((parts) => parts.join(''))
    await fc.assert(
      fc.asyncProperty(text, fc.nat(), fc.integer({ min: 1, max: 12 }), text, async (file, at1, length, newText) => {
        const units = Array.from(file)
        const start = at1 % units.length
        const oldText = units.slice(start, start + length).join('')
        put('p', file)
        const before = bytesOf('p')
        const made = await edit('p', { oldText, newText }).catch((error: { code?: string }) => error)
        const after = bytesOf('p')
        if (!('receipt' in made)) {
          expect(made.code).toMatch(/^FS_/)
          expect(after).toEqual(before)
          return
        }
        const [first, last] = [made.receipt.ranges[0], made.receipt.ranges.at(-1)]
        if (first === undefined || last === undefined) return expect(after).toEqual(before)
        expect(after.subarray(0, first.start)).toEqual(before.subarray(0, first.start))
        const tail = after.length - last.end
        expect(after.subarray(after.length - tail)).toEqual(before.subarray(before.length - tail))
        return undefined
      }),
      { numRuns: 300 },
    )
  })
})

describe('a write', () => {
  it('creates missing folders and leaves no staged file', async () => {
    const target = await fs.resolve(at('new/deep/file.txt'))
    expect((await fs.write(target, 'hi\n')).operation).toBe('created')
    expect(readdirSync(at('new/deep'))).toEqual(['file.txt'])
  })

  it('goes through a link and keeps it', async () => {
    put('real', 'old\n')
    symlinkSync('real', at('link'))
    await fs.write(await fs.resolve(at('link')), 'new\n')
    expect(bytesOf('real').toString()).toBe('new\n')
    expect(
      readdirSync(folder, { withFileTypes: true })
        .find(({ name }) => name === 'link')
        ?.isSymbolicLink(),
    ).toBe(true)
  })

  it('keeps byte order mark and line endings of the file it replaces', async () => {
    put('a', withBom('one\r\ntwo\r\n'))
    await fs.write(await fs.resolve(at('a')), 'three\nfour\n')
    expect(bytesOf('a')).toEqual(withBom('three\r\nfour\r\n'))
  })

  it('refuses a file that was changed since it was read, and one that must not be there', async () => {
    put('a', 'one\n')
    const target = await fs.resolve(at('a'))
    const { version } = await fs.readText(target)
    put('a', 'other\n')
    await expect(fs.write(target, 'x', { expected: { kind: 'version', version } })).rejects.toMatchObject({
      code: 'FS_STALE_VERSION',
    })
    await expect(fs.write(target, 'x', { expected: { kind: 'absent' } })).rejects.toMatchObject({
      code: 'FS_ALREADY_EXISTS',
    })
    expect(bytesOf('a').toString()).toBe('other\n')
  })

  it('lets fifty writers of one file take turns', async () => {
    const texts = Array.from({ length: 50 }, (_, index) => `${index}\n`.repeat(2000))
    const target = await fs.resolve(at('a'))
    await Promise.all(texts.map((text) => fs.write(target, text)))
    expect(texts).toContain(bytesOf('a').toString())
    expect(readdirSync(folder)).toEqual(['a'])
  })

  it('is fenced by a policy, by the real path', async () => {
    const policy = {
      mode: 'workspace-write',
      network: 'open',
      allowedHosts: [],
      root: at('ws'),
      writableRoots: [],
      deniedReads: [],
      tempDir: at('tmp'),
      sessionId: 's',
      nestedNamespaces: false,
    } as const
    await fs.write(await fs.resolve(at('ws/in.txt')), 'x')
    symlinkSync('..', at('ws/out'))
    await expect(fs.write(await fs.resolve(at('ws/out/x')), 'x', { policy })).rejects.toMatchObject({
      code: 'FS_SANDBOX_DENIED',
    })
    await fs.write(await fs.resolve(at('ws/in.txt')), 'y', { policy })
  })
})

describe('reading lines', () => {
  it('gives a range, counts the file, and cuts long lines', async () => {
    put('a', `${Array.from({ length: 100 }, (_, index) => `line ${index + 1}`).join('\r\n')}\r\n${'x'.repeat(5000)}`)
    const target = await fs.resolve(at('a'))
    const found = await fs.readLines(target, { offset: 10, count: 2 })
    expect(found).toMatchObject({ totalLines: 101, complete: true, cut: false })
    expect(found.lines).toEqual([
      { number: 10, text: 'line 10' },
      { number: 11, text: 'line 11' },
    ])
    expect(found.fingerprint).toMatchObject({ encoding: 'utf-8', eol: 'crlf', finalNewline: false })
    expect((await fs.readLines(target, { offset: 101 })).lines[0]?.text).toMatch(/… \[line has 5000 characters\]$/)
  })

  it('looks at no more of a large file than it must', async () => {
    put('big', 'some line of text\n'.repeat(3_000_000))
    const found = await fs.readLines(await fs.resolve(at('big')), { count: 100 })
    expect(found.lines).toHaveLength(100)
    expect(found.complete).toBe(false)
  })

  it.each([
    ['missing', 'FS_NOT_FOUND'],
    ['.', 'FS_NOT_REGULAR_FILE'],
    ['binary', 'FS_NOT_TEXT'],
    ['loop', 'FS_LINK_LOOP'],
  ])('says what is wrong with %s', async (name, code) => {
    put('binary', Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 0, 0]))
    symlinkSync('loop', at('loop'))
    await expect(fs.readLines(await fs.resolve(at(name)))).rejects.toMatchObject({ code })
  })
})
