import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Row } from '../src/hits.ts'
import { pageOf, type FileRows } from '../src/page.ts'

function filesOf(counts: readonly number[]): FileRows[] {
  return counts.map((count, file) => ({
    path: `file-${String(file).padStart(3, '0')}`,
    rows: Array.from({ length: count }, (_, at): Row => ({
      line: at * 3 + 2,
      text: `match ${file}.${at}`,
      ranges: [],
      context: false,
    })),
  }))
}

const ALONE = { before: 0, after: 0, budget: 1_000_000 }

describe('pages', () => {
  it('put together are the whole result, each match once and in order', () => {
    const counts = fc.array(fc.integer({ min: 1, max: 30 }), { maxLength: 12 })
    fc.assert(
      fc.property(
        counts,
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 30, max: 2000 }),
        (each, limit, budget) => {
          const files = filesOf(each)
          const seen: string[] = []
          for (let offset = 0; ;) {
            const page = pageOf(files, { ...ALONE, budget, offset, limit })
            if (page.shown === 0) break
            const rows = page.files.flatMap((file) => file.rows)
            expect(rows).toHaveLength(page.shown)
            expect(page.shown).toBeLessThanOrEqual(limit)
            seen.push(...rows.map(({ text }) => text))
            offset += page.shown
          }
          expect(seen).toEqual(files.flatMap(({ rows }) => rows.map(({ text }) => text)))
        },
      ),
    )
  })

  it('keep to their budget, and show one match whatever it takes', () => {
    const rows: Row[] = [1, 2, 3].map((line) => ({ line, text: 'x'.repeat(1000), ranges: [], context: false }))
    expect(pageOf([{ path: 'a', rows }], { ...ALONE, budget: 2100, offset: 0, limit: 10 }).shown).toBe(2)
    expect(pageOf([{ path: 'a', rows }], { ...ALONE, budget: 10, offset: 0, limit: 10 }).shown).toBe(1)
  })

  it('show the lines around their own matches only', () => {
    const rows: Row[] = [
      { line: 1, text: 'before', ranges: [], context: true },
      { line: 2, text: 'first', ranges: [], context: false },
      { line: 3, text: 'between', ranges: [], context: true },
      { line: 9, text: 'before second', ranges: [], context: true },
      { line: 10, text: 'second\nof two lines', ranges: [], context: false },
      { line: 12, text: 'after second', ranges: [], context: true },
    ]
    const page = (offset: number): string[] =>
      pageOf([{ path: 'a', rows }], { before: 1, after: 1, budget: 10_000, offset, limit: 1 }).files.flatMap((file) =>
        file.rows.map(({ text }) => text),
      )
    expect(page(0)).toEqual(['before', 'first', 'between'])
    expect(page(1)).toEqual(['before second', 'second\nof two lines', 'after second'])
  })
})
