import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hear, type Heard, type Row } from '../src/hits.ts'
import { Messages } from '../src/messages.ts'

function match(text: string, submatches: [number, number][], line = 7): string {
  const data = {
    path: { text: './a' },
    lines: { text },
    line_number: line,
    absolute_offset: 0,
    submatches: submatches.map(([start, end]) => ({ match: { text: 'x' }, start, end })),
  }
  return `${JSON.stringify({ type: 'match', data })}\n`
}

function heard(text: string, size: number, maxLineLength = 200): (Heard | undefined)[] {
  const bytes = Buffer.from(text)
  const messages = new Messages()
  const all: (Heard | undefined)[] = []
  for (let at = 0; at < bytes.length; at += size) {
    messages.read(bytes.subarray(at, at + size), (message) => {
      all.push(hear(message, maxLineLength))
      return false
    })
  }
  return all
}

function rowOf(text: string, size = 65_536, maxLineLength = 200): Row {
  const [first] = heard(text, size, maxLineLength)
  if (first?.kind !== 'row') throw new Error('no row')
  return first.row
}

describe('messages', () => {
  it('are the same in pieces of any size', () => {
    const text = match('héllo x\n', [[7, 8]]) + match('"},"line_number":9\n', [[0, 1]], 8) + match('x\r\n', [[0, 1]], 9)
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 300 }), (size) => {
        expect(heard(text, size)).toEqual(heard(text, 9999))
      }),
    )
    expect(heard(text, 50)).toMatchObject([
      { row: { line: 7, text: 'héllo x', ranges: [[6, 7]] } },
      { row: { line: 8, text: '"},"line_number":9' } },
      { row: { line: 9, text: 'x', ranges: [[0, 1]] } },
    ])
  })

  it.each([1000, 65_536, 3_000_000])(
    'keep of a line of 5 MB its start, number and matches, in pieces of %s',
    (size) => {
      const long = `${'a'.repeat(300)}x"\\é${'b'.repeat(5_000_000)}"},\\"line_number":5 end\n`
      const row = rowOf(match(long, [[300, 301]], 42) + match('next\n', []), size)
      expect(row).toMatchObject({ line: 42, context: false })
      expect(row.text.length).toBeLessThan(320)
      const [[start, end] = [0, 0]] = row.ranges
      expect(row.text.slice(start, end)).toBe('x')
      expect(row.text).toMatch(/^\[250 bytes before\] a+x"\\éb+ \[more than \d+ bytes after\]$/)
      expect(heard(match(long, [], 42) + match('next\n', [], 43), size)[1]).toMatchObject({
        row: { line: 43, text: 'next' },
      })
    },
  )

  it('keep the number of a line whose match lies beyond what is held', () => {
    const row = rowOf(match(`${'a'.repeat(3_000_000)}x\n`, [[3_000_000, 3_000_001]], 3))
    expect(row).toMatchObject({ line: 3, ranges: [] })
    expect(row.text).toMatch(/bytes after\]$/)
  })

  it('show bytes that are no UTF-8, of names and of lines', () => {
    const data = {
      path: { bytes: 'Li9u/2FtZQ==' },
      lines: { bytes: 'Zm9vIP8K' },
      line_number: 1,
      submatches: [{ start: 0, end: 3 }],
    }
    const text = `${JSON.stringify({ type: 'begin', data })}\n${JSON.stringify({ type: 'match', data })}\n`
    expect(heard(text, 10_000)).toEqual([
      { kind: 'begin', path: 'n\u00ffame' },
      { kind: 'row', row: { line: 1, text: 'foo \uFFFD', ranges: [[0, 3]], context: false } },
    ])
  })
})

describe('a long line', () => {
  it('is cut around its first match, on whole characters, with ranges that still point at it', () => {
    const filler = fc.string({ unit: fc.constantFrom('a', 'é', '漢', '😀'), maxLength: 400 })
    fc.assert(
      fc.property(filler, filler, fc.integer({ min: 40, max: 300 }), (before, after, max) => {
        const start = Buffer.byteLength(before)
        const row = rowOf(match(`${before}NEEDLE${after}\n`, [[start, start + 6]]), 65_536, max)
        const [[from, to] = [0, 0]] = row.ranges
        expect('NEEDLE'.startsWith(row.text.slice(from, to))).toBe(true)
        expect(row.text.slice(from, to)).not.toBe('')
        expect(row.text).not.toContain('\uFFFD')
        expect(
          Buffer.byteLength(row.text.replace(/^\[\d+ bytes before\] | \[\d+ bytes after\]$/g, '')),
        ).toBeLessThanOrEqual(max + 3)
      }),
    )
  })
})
