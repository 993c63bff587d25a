// Rows: every encoding with every line ending, with and without a byte order mark: kept byte for byte or refused with a reason.
import assert from 'node:assert/strict'
import type { FsEncoding } from '@deepseek-ai/dsh-fs'
import type { FsRow } from './suite.ts'
import { refuses } from './world.ts'

interface Form {
  readonly encoding: FsEncoding
  /** Ahead of the ASCII of each line: letters that only this encoding has. */
  readonly letters: Uint8Array
  readonly mark: Uint8Array
  readonly of: (ascii: string) => Buffer
}

const wide = (text: string): Buffer => Buffer.from(text, 'utf16le')
const narrow = (text: string): Buffer => Buffer.from(text, 'latin1')
const UTF8_MARK = [0xef, 0xbb, 0xbf]

function form(encoding: FsEncoding, letters: Uint8Array | number[], mark: number[], of = narrow): Form {
  return { encoding, letters: Uint8Array.from(letters), mark: Uint8Array.from(mark), of }
}

const FORMS: Readonly<Record<string, Form>> = {
  'UTF-8': form('utf-8', Buffer.from('ü你😀'), UTF8_MARK),
  'UTF-16LE': form('utf-16le', wide('ü你😀'), [0xff, 0xfe], wide),
  'UTF-16BE': form('utf-16be', wide('ü你😀').swap16(), [0xfe, 0xff], (text) => wide(text).swap16()),
  'Latin-1': form('bytes', [0xfc, 0x20], UTF8_MARK),
  GBK: form('bytes', [0xc4, 0xe3, 0xba, 0xc3], UTF8_MARK),
  'Shift-JIS': form('bytes', [0x82, 0xa0, 0x83, 0x5c], UTF8_MARK),
}

const ENDINGS = {
  LF: ['\n', '\n', '\n'],
  CRLF: ['\r\n', '\r\n', '\r\n'],
  mixed: ['\r\n', '\n', '\r'],
  CR: ['\r', '\r', '\r'],
  'none at the end': ['\n', '\n', ''],
} as const

const EOLS = { LF: 'lf', CRLF: 'crlf', mixed: 'mixed', CR: 'cr', 'none at the end': 'lf' } as const

type EndingName = keyof typeof ENDINGS

function matrix(name: string, { encoding, letters, mark, of }: Form, ending: EndingName, marked: boolean): FsRow {
  const ends = ENDINGS[ending]
  const lines = (...texts: string[]): Buffer =>
    Buffer.concat([
      marked ? mark : new Uint8Array(),
      ...texts.flatMap((text, index) => [letters, of(text), of(ends[index] ?? '')]),
    ])
  // A mark ahead of bytes that are no UTF-8 is three bytes like the others.
  const bom = marked && encoding !== 'bytes'
  const expected = { encoding, bom, eol: EOLS[ending], finalNewline: ends[2] !== '' }
  return {
    title: `keeps ${name} with ${ending} ${marked ? 'and' : 'without'} a byte order mark`,
    body: async ({ fs, put, bytes, target, edit, write }) => {
      const file = lines('first line', 'second line', 'third line')
      put('a', file)
      const it = await target('a')
      const [whole, shown] = [await fs.readText(it), await fs.readLines(it)]
      assert.deepEqual(
        shown.lines.map(({ text }) => text),
        whole.text.split(/\r\n|\n|\r/).slice(0, 3),
      )
      assert.match(shown.lines[1]?.text ?? '', /second line$/)
      assert.deepEqual({ ...whole.fingerprint, ...expected }, whole.fingerprint)
      assert.deepEqual(shown.fingerprint, whole.fingerprint)

      const { receipt } = await edit('a', { oldText: 'second', newText: 'other' })
      assert.deepEqual(bytes('a'), lines('first line', 'other line', 'third line'))
      assert.deepEqual({ ...receipt.after, ...expected }, receipt.after)
      const [range] = receipt.ranges
      assert.ok(range !== undefined && receipt.ranges.length === 1)
      const tail = bytes('a').length - range.end
      assert.deepEqual(bytes('a').subarray(0, range.start), file.subarray(0, range.start))
      assert.deepEqual(bytes('a').subarray(range.end), file.subarray(file.length - tail))
      await edit('a', { oldText: 'other', newText: 'second' })
      assert.deepEqual(bytes('a'), file)

      await write('a', whole.text)
      assert.deepEqual(bytes('a'), file)
      const { receipt: replaced } = await write('a', 'plain\ntext\n')
      const eol = ending === 'CRLF' ? '\r\n' : ending === 'CR' ? '\r' : '\n'
      assert.deepEqual(bytes('a'), Buffer.concat([bom ? mark : new Uint8Array(), of(`plain${eol}text${eol}`)]))
      assert.equal(replaced.before?.encoding, encoding)
    },
  }
}

const matrixRows = Object.entries(FORMS).flatMap(([name, each]) =>
  (Object.keys(ENDINGS) as EndingName[]).flatMap((ending) =>
    [true, false].map((marked) => matrix(name, each, ending, marked)),
  ),
)

export const encodingRows: FsRow[] = [
  ...matrixRows,
  {
    title: 'edits several lines in each ending, in the ending of the place',
    body: async ({ edit, put, bytes }) => {
      for (const { encoding, of, letters, mark } of Object.values(FORMS)) {
        for (const eol of ['\n', '\r\n', '\r']) {
          const file = (...texts: string[]): Buffer =>
            Buffer.concat([mark, ...texts.flatMap((text) => [letters, of(text + eol)])])
          put('a', file('one', 'two', 'three'))
          // As it is shown: bytes of no Unicode encoding as Latin-1.
          const lead = encoding === 'bytes' ? Buffer.from(letters).toString('latin1') : 'ü你😀'
          await edit('a', { oldText: `two\n${lead}three`, newText: `2\n${lead}2 and a half\n${lead}3` })
          assert.deepEqual(bytes('a'), file('one', '2', '2 and a half', '3'))
        }
      }
    },
  },
  {
    title: 'refuses letters that the encoding of a file does not have, and says which',
    body: async ({ edit, write, put, bytes }) => {
      const latin = Buffer.from([0x67, 0x72, 0xfc, 0x6e, 0x20, 0x61, 0x0a])
      put('a', latin)
      assert.match(await refuses(edit('a', { oldText: 'a', newText: '€' }), 'FS_INVALID_EDIT'), /€/)
      assert.match(await refuses(write('a', 'x 你\n'), 'FS_INVALID_EDIT'), /你/)
      assert.deepEqual(bytes('a'), latin)
      await refuses(edit('a', { oldText: '你', newText: 'x' }), 'FS_EDIT_NOT_FOUND')
      await edit('a', { oldText: 'ü', newText: 'ö' })
      assert.deepEqual(bytes('a'), Buffer.from([0x67, 0x72, 0xf6, 0x6e, 0x20, 0x61, 0x0a]))
    },
  },
  {
    title: 'changes no byte of a Latin-1 file but those of an ASCII edit',
    body: async ({ edit, put, bytes }) => {
      const line = Buffer.from([0xe9, 0xe8, 0x20, 0x61, 0x0a])
      const file = (word: string): Buffer =>
        Buffer.concat([...Array.from({ length: 500 }, () => line), Buffer.from(word)])
      put('a', file('end'))
      await edit('a', { oldText: 'end', newText: 'END' })
      assert.deepEqual(bytes('a'), file('END'))
    },
  },
  {
    title: 'refuses UTF-16 that is cut or broken, and leaves it alone',
    body: async ({ fs, edit, put, bytes, target }) => {
      const broken = [Buffer.from([0xff, 0xfe, 0x61, 0, 0x62]), Buffer.from([0xff, 0xfe, 0x00, 0xd8, 0x62, 0])]
      for (const file of broken) {
        put('a', file)
        await refuses(fs.readText(await target('a')), 'FS_NOT_TEXT')
        await refuses(fs.readLines(await target('a')), 'FS_NOT_TEXT')
        await refuses(edit('a', { oldText: 'a', newText: 'b' }), 'FS_NOT_TEXT')
        assert.deepEqual(bytes('a'), file)
      }
    },
  },
  {
    title: 'takes numbers in binary for binary, not for UTF-16',
    body: async ({ fs, put, target }) => {
      const samples = [
        Buffer.from(Int16Array.from({ length: 2000 }, (_, index) => index % 40).buffer),
        Buffer.from(Int32Array.from({ length: 2000 }, (_, index) => index * 3).buffer),
        Buffer.from(Float32Array.from({ length: 2000 }, (_, index) => index / 7).buffer),
        Buffer.alloc(4000),
      ]
      for (const bytes of samples) {
        put('a', bytes)
        await refuses(fs.readText(await target('a')), 'FS_NOT_TEXT')
        await refuses(fs.readLines(await target('a')), 'FS_NOT_TEXT')
      }
    },
  },
]
