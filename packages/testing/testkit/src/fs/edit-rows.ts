// Rows: edits: lenient in finding, exact in writing, all or none, and honest about where and how.
import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import type { FsErrorCode } from '@deepseek-ai/dsh-fs'
import type { FsRow } from './suite.ts'
import { refuses } from './world.ts'

interface Kept {
  readonly title: string
  readonly before: string
  readonly oldText: string
  readonly newText: string
  readonly after: string
  readonly strategy?: string
}

const KEPT: readonly Kept[] = [
  { title: 'one word of one line', before: 'a b c\n', oldText: 'b', newText: 'B', after: 'a B c\n' },
  {
    title: 'the endings of a CRLF file',
    before: 'a\r\nb\r\nc\r\n',
    oldText: 'a\nb',
    newText: 'a\nx\nb',
    after: 'a\r\nx\r\nb\r\nc\r\n',
    strategy: 'line-endings',
  },
  {
    title: 'CRLF in a text for an LF file',
    before: 'a\nb\nc\n',
    oldText: 'a\r\nb',
    newText: 'a\r\nx',
    after: 'a\nx\nc\n',
    strategy: 'line-endings',
  },
  {
    title: 'each ending of a file that mixes them',
    before: 'a\r\nb\nc\rd\n',
    oldText: 'a\nb\nc\nd',
    newText: 'a\nb\nc\nD',
    after: 'a\r\nb\nc\rD\n',
    strategy: 'line-endings',
  },
  { title: 'blank lines at the end', before: 'a\nb\n\n\n', oldText: 'b\n', newText: 'c\n', after: 'a\nc\n\n\n' },
  { title: 'a missing newline at the end', before: 'a\nb', oldText: 'a\nb', newText: 'a\nc', after: 'a\nc' },
  {
    title: 'a newline at the end that the old text does not have',
    before: 'a\nb\n',
    oldText: 'a\nb',
    newText: 'a\nc',
    after: 'a\nc\n',
  },
  {
    title: 'a blank line and spacing around a match',
    before: 'x\n\nfunction  f() {\n\n  return 1\n}\n',
    oldText: 'function f() {',
    newText: 'function g() {',
    after: 'x\n\nfunction g() {\n\n  return 1\n}\n',
    strategy: 'whitespace',
  },
  {
    title: 'tabs where the old text has spaces',
    before: 'if x:\n\ty\n\tz\n',
    oldText: 'if x:\n    y',
    newText: 'if x:\n    y\n    w',
    after: 'if x:\n\ty\n\tw\n\tz\n',
    strategy: 'whitespace',
  },
  {
    title: 'full-width text outside and inside a match',
    before: 'note（最大３回） = 1\nother（２）\n',
    oldText: 'note（最大３回） = 1',
    newText: 'note（最大３回） = 2',
    after: 'note（最大３回） = 2\nother（２）\n',
  },
  {
    title: 'full-width text that is matched by its plain form',
    before: '  limit（３） = 1\nother（３）\n',
    oldText: 'limit(3) = 1',
    newText: 'limit = 2',
    after: '  limit = 2\nother（３）\n',
    strategy: 'whitespace',
  },
  {
    title: 'nothing of a CRLF when a line ending is replaced',
    before: 'a\r\nb',
    oldText: '\n',
    newText: ', ',
    after: 'a, b',
    strategy: 'line-endings',
  },
  {
    title: 'characters of several bytes at its edges',
    before: 'é😀é\n',
    oldText: 'é😀',
    newText: 'è😁',
    after: 'è😁é\n',
  },
  { title: 'a text that is all there is', before: 'a', oldText: 'a', newText: '', after: '' },
  { title: 'lines that are deleted', before: 'a\nb\nc\n', oldText: 'b\n', newText: '', after: 'a\nc\n' },
  {
    title: 'replacement patterns as plain text',
    before: 'a\n',
    oldText: 'a',
    newText: "$& $1 $$ $'",
    after: "$& $1 $$ $'\n",
  },
  {
    title: 'regular expressions as plain text',
    before: 'f(x) + [1]*2\n',
    oldText: 'f(x) + [1]*',
    newText: '^.$',
    after: '^.$2\n',
  },
]

const keptRows: FsRow[] = KEPT.map(({ title, before, oldText, newText, after, strategy = 'exact' }) => ({
  title: `edits and keeps: ${title}`,
  body: async ({ edit, put, text, names }) => {
    put('a', before)
    const { receipt, operation } = await edit('a', { oldText, newText })
    assert.deepEqual([text('a'), receipt.strategy, operation], [after, strategy, 'edited'])
    assert.deepEqual(names(), ['a'])
    assert.deepEqual(
      [receipt.before?.bytes, receipt.after.bytes],
      [Buffer.byteLength(before), Buffer.byteLength(after)],
    )
  },
}))

interface Refused {
  readonly title: string
  readonly before: string
  readonly oldText: string
  readonly newText?: string
  readonly code: FsErrorCode
  readonly says?: RegExp
}

const many = Array.from({ length: 2400 }, (_, index) => `  line ${index + 1}\n`).join('')
const blocks = 'a() {\n  x\n}\n\nreturn x\nb() {\n  y\n}\n\nreturn x\n'

const REFUSED: readonly Refused[] = [
  {
    title: 'two far lines glued together',
    before: many,
    oldText: '  line 10\n  line 2300',
    code: 'FS_EDIT_NOT_FOUND',
    says: /line 10\b.*line 2300\b.*one piece/,
  },
  {
    title: 'what is there twice, with the places',
    before: 'x\ny\nx\n',
    oldText: 'x',
    code: 'FS_AMBIGUOUS_EDIT',
    says: /2 places: lines 1, 3/,
  },
  {
    title: 'a common block that is there twice',
    before: blocks,
    oldText: '}\n\nreturn x',
    code: 'FS_AMBIGUOUS_EDIT',
    says: /lines 3-5, 8-10/,
  },
  {
    title: 'what is there twice in places that overlap',
    before: 'a\n\n\nb\n',
    oldText: '\n\n',
    code: 'FS_AMBIGUOUS_EDIT',
    says: /2 places/,
  },
  {
    title: 'what is there twice apart from white space',
    before: 'a  b\nc\na   b\n',
    oldText: 'a b',
    code: 'FS_AMBIGUOUS_EDIT',
    says: /white space/,
  },
  {
    title: 'what is nearly there, with the closest lines',
    before: 'const total = sum(values)\n',
    oldText: 'const total = add(values)',
    code: 'FS_EDIT_NOT_FOUND',
    says: /1: const total = sum\(values\)/,
  },
  { title: 'an empty old text', before: 'a\n', oldText: '', code: 'FS_INVALID_EDIT' },
  { title: 'a new text that is the old one', before: 'a\n', oldText: 'a', newText: 'a', code: 'FS_INVALID_EDIT' },
  {
    title: 'a placeholder for code',
    before: 'a\nb\n',
    oldText: 'a',
    newText: 'A\n// ... existing code ...',
    code: 'FS_INVALID_EDIT',
  },
  {
    title: 'half a character in the new text',
    before: 'a\n',
    oldText: 'a',
    newText: '\ud83d',
    code: 'FS_INVALID_EDIT',
  },
  { title: 'half a character in the old text', before: '\ufffd😀\n', oldText: '\ud83d', code: 'FS_INVALID_EDIT' },
  {
    title: 'a text that is not there at all',
    before: '{"a": "b"}\n',
    oldText: '{\\"a\\": \\"b\\"}',
    code: 'FS_EDIT_NOT_FOUND',
  },
]

const refusedRows: FsRow[] = REFUSED.map(({ title, before, oldText, newText = 'gone', code, says = /./ }) => ({
  title: `refuses and changes nothing: ${title}`,
  body: async ({ edit, put, text, at, names }) => {
    put('a', before)
    const { mtimeMs } = statSync(at('a'))
    assert.match(await refuses(edit('a', { oldText, newText }), code), says)
    assert.deepEqual([text('a'), statSync(at('a')).mtimeMs, names()], [before, mtimeMs, ['a']])
  },
}))

export const editRows: FsRow[] = [
  ...keptRows,
  ...refusedRows,
  {
    title: 'replaces every occurrence when all are asked for',
    body: async ({ edit, put, text }) => {
      put('a', 'x y x\nx\n')
      const { receipt } = await edit('a', { oldText: 'x', newText: 'long', all: true })
      assert.equal(text('a'), 'long y long\nlong\n')
      assert.deepEqual(receipt.ranges, [
        { start: 0, end: 4 },
        { start: 7, end: 11 },
        { start: 12, end: 16 },
      ])
      assert.deepEqual(receipt.lines, { added: 2, removed: 2 })
    },
  },
  {
    title: 'makes all edits or none, each on what those before it left, and says which one failed',
    body: async ({ edit, put, text }) => {
      put('a', 'one\ntwo\nthree\n')
      const good = { oldText: 'one', newText: '1' }
      const bad = edit('a', [good, { oldText: 'four', newText: '4' }])
      assert.match(await refuses(bad, 'FS_EDIT_NOT_FOUND'), /edit 2 of 2/)
      assert.equal(text('a'), 'one\ntwo\nthree\n')
      const { receipt } = await edit('a', [
        good,
        { oldText: '1\ntwo', newText: '1\n2' },
        { oldText: '1', newText: 'I' },
      ])
      assert.equal(text('a'), 'I\n2\nthree\n')
      assert.deepEqual(receipt.lines, { added: 2, removed: 2 })
      await refuses(edit('a', []), 'FS_INVALID_EDIT')
    },
  },
  {
    title: 'takes an edit of a file that was changed elsewhere when no version is expected',
    body: async ({ edit, put, text }) => {
      put('a', 'one\nother\n')
      await edit('a', { oldText: 'one', newText: '1' })
      put('a', 'one\nother, changed\n')
      await edit('a', { oldText: 'one', newText: '1' })
      assert.equal(text('a'), '1\nother, changed\n')
    },
  },
  {
    title: 'numbers the lines of hunks and tells each changed line once, however far the edits are apart',
    body: async ({ edit, put }) => {
      put('a', many)
      const changes = [7, 1200, 2400].map((line) => ({
        oldText: `  line ${line}\n`,
        newText: `  LINE ${line}\n  more\n`,
      }))
      const { hunks, receipt, hunksCut } = await edit('a', changes)
      assert.deepEqual(
        hunks.map(({ oldStart, newStart }) => [oldStart, newStart]),
        [
          [4, 4],
          [1197, 1198],
          [2397, 2399],
        ],
      )
      assert.equal(hunks[2]?.newText, '  line 2397\n  line 2398\n  line 2399\n  LINE 2400\n  more\n')
      assert.deepEqual([receipt.lines, hunksCut], [{ added: 6, removed: 3 }, false])
    },
  },
  {
    title: 'edits a line of 20 MB and a file of a million lines, and says where',
    body: async ({ edit, put, at, bytes }) => {
      const half = 'x'.repeat(10_000_000)
      put('line', `${half}needle${half}\n`)
      const { receipt, hunks, hunksCut } = await edit('line', { oldText: 'needle', newText: 'pin' })
      assert.deepEqual(receipt.ranges, [{ start: 10_000_000, end: 10_000_003 }])
      assert.deepEqual([receipt.lines, hunks, hunksCut], [{ added: 1, removed: 1 }, [], true])
      assert.equal(statSync(at('line')).size, 20_000_004)
      put('lines', `${'some line\n'.repeat(900_000)}needle\n${'some line\n'.repeat(100_000)}`)
      const large = await edit('lines', { oldText: 'needle\nsome', newText: 'pin\nsome' })
      assert.equal(large.hunks[0]?.oldStart, 899_998)
      assert.equal(bytes('lines').indexOf('pin\n'), 9_000_000)
    },
  },
]
