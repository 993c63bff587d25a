// Rows: random files and random edits: what is outside the reported ranges, what undoing gives, and what the hunks say.
import assert from 'node:assert/strict'
import type { FsHunk, FsReceipt, FsWriteResult } from '@deepseek-ai/dsh-fs'
import fc from 'fast-check'
import type { FsRow } from './suite.ts'
import { codeOf } from './world.ts'

const RUNS = { numRuns: 300 }
const pieces = [
  'a',
  'b',
  'é',
  '你',
  '😀',
  ' ',
  '  ',
  '\t',
  'word',
  'x y',
  '{',
  '}',
  '\n',
  '\n',
  '\r\n',
  '\r',
  '\n\n',
  '\u2028',
]
const anyText = textOf(pieces)

function textOf(from: readonly string[], minLength = 1): fc.Arbitrary<string> {
  return fc.array(fc.constantFrom(...from), { minLength, maxLength: 60 }).map((parts) => parts.join(''))
}

/** A piece of the text, mostly; now and then with other white space or other endings than the text has. */
function pieceOf(file: string): fc.Arbitrary<string> {
  const units = Array.from(file)
  return fc
    .tuple(
      fc.nat(units.length - 1),
      fc.integer({ min: 1, max: 12 }),
      fc.constantFrom('as it is', 'as it is', 'LF', 'spaces'),
    )
    .map(([at, length, how]) => {
      const piece = units.slice(at, at + length).join('')
      if (how === 'LF') return piece.replace(/\r\n?/g, '\n')
      return how === 'spaces' ? piece.replace(/ +/g, '   ') : piece
    })
}

const fileAndEdits = (file: fc.Arbitrary<string>, fresh: fc.Arbitrary<string>, most = 3) =>
  file.chain((text) =>
    fc.tuple(
      fc.constant(text),
      fc.array(
        fc.tuple(pieceOf(text), fresh, fc.boolean()).map(([oldText, newText, all]) => ({ oldText, newText, all })),
        { minLength: 1, maxLength: most },
      ),
    ),
  )

/** What is outside the ranges is the same on both sides, in order. */
function assertOutside(before: Buffer, after: Buffer, { ranges }: FsReceipt): void {
  const [first, last] = [ranges[0], ranges.at(-1)]
  if (first === undefined || last === undefined) return assert.deepEqual(after, before)
  assert.deepEqual(after.subarray(0, first.start), before.subarray(0, first.start))
  const tail = after.length - last.end
  assert.deepEqual(after.subarray(last.end), before.subarray(before.length - tail))
  let [at, from] = [0, 0]
  for (const { start, end } of ranges) {
    assert.ok(start >= from && end >= start, 'ranges are in order')
    const kept = after.subarray(from, start)
    const found = before.indexOf(kept, at)
    assert.ok(found >= at || kept.length === 0, 'what is between ranges was there')
    if (kept.length > 0) at = found + kept.length
    from = end
  }
}

const linesOf = (text: string): string[] => text.match(/[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+$/g) ?? []

/** Hunks put one text into the other, whichever side they start from. */
function applied(text: string, hunks: readonly FsHunk[], side: 'forth' | 'back'): string {
  const lines = linesOf(text)
  let [at, made] = [0, '']
  for (const { oldStart, newStart, oldText, newText } of hunks) {
    const [start, from, to] = side === 'forth' ? [oldStart, oldText, newText] : [newStart, newText, oldText]
    made += lines.slice(at, start - 1).join('')
    const known = linesOf(from)
    assert.equal(lines.slice(start - 1, start - 1 + known.length).join(''), from)
    made += to
    at = start - 1 + known.length
  }
  return made + lines.slice(at).join('')
}

/** Between two lines that stayed, nothing is on both sides. Such lines are what both sides of a hunk begin and end with, at least. */
function assertMinimal(result: FsWriteResult): void {
  let [added, removed] = [0, 0]
  for (const { oldText, newText } of result.hunks) {
    const [a, b] = [linesOf(oldText), linesOf(newText)]
    const common = longestCommon(a, b)
    removed += a.length - common
    added += b.length - common
  }
  assert.deepEqual(result.receipt.lines, { added, removed })
}

function longestCommon(a: readonly string[], b: readonly string[]): number {
  let row = Array.from(b, () => 0)
  for (const line of a) {
    const next = [0]
    for (const [j, other] of b.entries()) {
      next.push(line === other ? (row[j] ?? 0) + 1 : Math.max(row[j + 1] ?? 0, next[j] ?? 0))
    }
    row = next
  }
  return row.at(-1) ?? 0
}

export const propertyRows: FsRow[] = [
  {
    title: 'keeps every byte outside the ranges it reports, or refuses and keeps every byte',
    body: async ({ edit, put, bytes, names }) => {
      await fc.assert(
        fc.asyncProperty(fileAndEdits(anyText, anyText), fc.boolean(), async ([text, edits], marked) => {
          put('a', marked ? `\ufeff${text}` : text)
          const before = bytes('a')
          const made = await edit('a', edits).catch((error: unknown) => codeOf(error))
          if (typeof made === 'string') {
            assert.match(made, /^FS_(?:EDIT_NOT_FOUND|AMBIGUOUS_EDIT|INVALID_EDIT)$/)
            assert.deepEqual(bytes('a'), before)
          } else {
            assertOutside(before, bytes('a'), made.receipt)
            assert.equal(made.receipt.after.bytes, bytes('a').length)
          }
          assert.deepEqual(names(), ['a'])
        }),
        RUNS,
      )
    },
  },
  {
    title: 'keeps every byte outside the ranges in files of any encoding',
    body: async ({ edit, put, bytes }) => {
      const line = fc
        .uint8Array({ minLength: 0, maxLength: 20 })
        .map((raw) => Buffer.from(raw.map((byte) => byte | 0x80)))
      const file = fc.array(line, { minLength: 1, maxLength: 20 })
      await fc.assert(
        fc.asyncProperty(file, fc.nat(), async (lines, place) => {
          const at = place % lines.length
          const made = (word: string): Buffer =>
            Buffer.concat(lines.flatMap((each, index) => [each, Buffer.from(index === at ? `<${word}>\n` : '\n')]))
          put('a', made('old'))
          const { receipt } = await edit('a', { oldText: '<old>', newText: '<new>' })
          assert.deepEqual(bytes('a'), made('new'))
          assertOutside(made('old'), bytes('a'), receipt)
        }),
        RUNS,
      )
    },
  },
  {
    title: 'restores a file byte for byte when an exact edit is undone by its reverse',
    body: async ({ edit, put, bytes }) => {
      let undone = 0
      const plain = textOf(pieces.filter((piece) => !piece.includes('\r')))
      const endings = fc.constantFrom('\n', '\r\n', '\r')
      await fc.assert(
        fc.asyncProperty(fileAndEdits(plain, plain, 1), endings, async ([text, [only]], eol) => {
          if (only === undefined) return
          const { oldText, newText } = only
          put('a', text.replaceAll('\n', eol))
          const before = bytes('a')
          const made = await edit('a', { oldText, newText }).catch(() => undefined)
          if (made === undefined || made.receipt.strategy === 'whitespace') return
          // Without any line ending left nobody could know which one it was.
          if (made.receipt.after.eol === 'none' && eol !== '\n') return
          const reverse = await edit('a', { oldText: newText, newText: oldText }).catch((error: unknown) =>
            codeOf(error),
          )
          // What was new may stand elsewhere too.
          if (typeof reverse === 'string') return assert.equal(reverse, 'FS_AMBIGUOUS_EDIT')
          undone++
          assert.deepEqual(bytes('a'), before)
        }),
        { numRuns: 400 },
      )
      assert.ok(undone > 50, `only ${undone} edits could be undone`)
    },
  },
  {
    title: 'restores a file byte for byte when its hunks are applied backwards, whatever its endings',
    body: async ({ edit, write, put, text, bytes }) => {
      const fresh = textOf(pieces.filter((piece) => !piece.includes('\r')))
      await fc.assert(
        fc.asyncProperty(fileAndEdits(anyText, fresh), async ([file, edits]) => {
          put('a', file)
          const before = bytes('a')
          const made = await edit('a', edits).catch(() => undefined)
          if (made === undefined) return
          assert.equal(made.hunksCut, false)
          assert.equal(applied(before.toString(), made.hunks, 'forth'), text('a'))
          await write('a', applied(text('a'), made.hunks, 'back'))
          assert.deepEqual(bytes('a'), before)
        }),
        RUNS,
      )
    },
  },
  {
    title: 'tells hunks of a replacement that are minimal and give the new text',
    body: async ({ write, put, text }) => {
      const few = fc
        .array(fc.constantFrom('a\n', 'b\n', 'c\n', 'd\r\n', '\n', '  long line\n'), { maxLength: 40 })
        .map((lines) => lines.join(''))
      await fc.assert(
        fc.asyncProperty(few, few, async (before, after) => {
          put('a', before)
          const made = await write('a', after)
          assert.equal(applied(before, made.hunks, 'forth'), text('a'))
          assertMinimal(made)
        }),
        RUNS,
      )
    },
  },
  {
    title: 'tells a rewrite of 5,000 lines line by line',
    body: async ({ write, put }) => {
      const lines = Array.from({ length: 5000 }, (_, index) => `line ${index}\n`)
      put('a', lines.join(''))
      const fresh = lines.map((line, index) => (index % 2 === 0 ? line : `fresh ${line}`))
      const { hunks, hunksCut, receipt } = await write('a', fresh.join(''))
      assert.deepEqual([hunksCut, receipt.lines], [false, { added: 2500, removed: 2500 }])
      assert.equal(applied(lines.join(''), hunks, 'forth'), fresh.join(''))
    },
  },
]
