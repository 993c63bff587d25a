// Hunks against the texts that they tell of: applied they give the new text, and they are minimal, for changes of any size.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { FsHunk } from '@deepseek-ai/dsh-fs'
import { hunksBetween, linesOf } from '../src/hunks.ts'
import { matchLines } from '@deepseek-ai/dsh-fs/line-diff'

const line = fc.constantFrom('a', 'b', 'c', 'd', 'e', '', '\t', 'long line of words')
const ending = fc.constantFrom('\n', '\n', '\r\n', '\r')
const text = fc
  .tuple(fc.array(fc.tuple(line, ending), { maxLength: 60 }), fc.constantFrom('', '', 'open'))
  .map(([lines, last]) => lines.map((pair) => pair.join('')).join('') + last)

/** The new text, made of the old one and the hunks alone. */
function applied(before: string, hunks: readonly FsHunk[]): string {
  const lines = linesOf(before)
  let [at, after] = [0, '']
  for (const { oldStart, newStart, oldText, newText } of hunks) {
    after += lines.slice(at, oldStart - 1).join('')
    expect(linesOf(after)).toHaveLength(newStart - 1)
    const old = linesOf(oldText)
    expect(lines.slice(oldStart - 1, oldStart - 1 + old.length)).toEqual(old)
    after += newText
    at = oldStart - 1 + old.length
  }
  return after + lines.slice(at).join('')
}

function lengthOfLongestCommon(a: readonly string[], b: readonly string[]): number {
  let row = new Int32Array(b.length + 1)
  for (const each of a) {
    const next = new Int32Array(b.length + 1)
    for (let j = 1; j <= b.length; j++) {
      next[j] = each === b[j - 1] ? at(row, j - 1) + 1 : Math.max(at(row, j), at(next, j - 1))
    }
    row = next
  }
  return at(row, b.length)
}

function at(numbers: Int32Array, index: number): number {
  return numbers[index] ?? 0
}

/** What lies between two matches, on both sides. */
function blocks(a: readonly string[], b: readonly string[], matched: Int32Array): [string[], string[]][] {
  const found: [string[], string[]][] = []
  let [oldAt, newAt] = [0, 0]
  for (let at = 0; at <= a.length; at++) {
    const place = at === a.length ? b.length : (matched[at] ?? -1)
    if (place < 0) continue
    found.push([a.slice(oldAt, at), b.slice(newAt, place)])
    ;[oldAt, newAt] = [at + 1, place + 1]
  }
  return found
}

/** What is matched is the same and in order, and no line is left on both sides of one change. */
function expectHonest(a: readonly string[], b: readonly string[], matched: Int32Array): void {
  const wrong: string[] = []
  let last = -1
  for (const [at, place] of matched.entries()) {
    if (place < 0) continue
    if (place <= last || b[place] !== a[at]) wrong.push(`${at} with ${place}`)
    last = place
  }
  for (const [removed, added] of blocks(a, b, matched)) {
    const known = new Set(added)
    wrong.push(...removed.filter((each) => known.has(each)))
  }
  expect(wrong).toEqual([])
}

/** The least of several times: what a busy machine adds is not the algorithm's. */
function bestOf(rounds: number, a: readonly string[], b: readonly string[]) {
  let elapsed = Number.POSITIVE_INFINITY
  let matched: Int32Array = new Int32Array()
  for (let round = 0; round < rounds; round++) {
    const started = performance.now()
    matched = matchLines(a, b)
    elapsed = Math.min(elapsed, performance.now() - started)
  }
  return { matched, elapsed }
}

describe('hunks', () => {
  it('give the new text when they are applied to the old one', () => {
    fc.assert(
      fc.property(text, text, (before, after) => {
        const { hunks, cut } = hunksBetween(before, after)
        expect(cut).toBe(false)
        expect(applied(before, hunks)).toBe(after)
      }),
      { numRuns: 1000 },
    )
  })

  it('give the new text for a few changes of a long one, and count them', () => {
    const edits = fc.array(fc.tuple(fc.nat(299), fc.constantFrom('drop', 'add', 'change')), { maxLength: 8 })
    fc.assert(
      fc.property(edits, ending, (changes, eol) => {
        const lines = Array.from({ length: 300 }, (_, index) => `line ${index % 40}${eol}`)
        const fresh = lines.map((each) => [each])
        for (const [at, how] of changes)
          fresh[at] = how === 'drop' ? [] : how === 'add' ? [`+${eol}`, lines[at] ?? ''] : [`*${eol}`]
        const [before, after] = [lines.join(''), fresh.flat().join('')]
        const { hunks, added, removed } = hunksBetween(before, after)
        expect(applied(before, hunks)).toBe(after)
        const common = lengthOfLongestCommon(lines, fresh.flat())
        expect([removed, added]).toEqual([lines.length - common, fresh.flat().length - common])
      }),
      { numRuns: 100 },
    )
  })

  it('have three lines of surroundings, and are one where those touch', () => {
    const lines = Array.from({ length: 30 }, (_, index) => `${index + 1}\n`)
    const after = lines.with(9, 'ten\n').with(15, 'sixteen\n').with(27, 'x\n')
    const { hunks } = hunksBetween(lines.join(''), after.join(''))
    expect(hunks.map(({ oldStart, oldText }) => [oldStart, linesOf(oldText).length])).toEqual([
      [7, 13],
      [25, 6],
    ])
  })

  it('are cut exactly when lines are missing, and then hold what there is room for', () => {
    const before = Array.from({ length: 4000 }, (_, index) => `old line ${index} ${'x'.repeat(60)}\n`)
    const after = before.map((each) => each.replace('old', 'new'))
    const whole = hunksBetween(before.slice(0, 1000).join(''), after.slice(0, 1000).join(''))
    expect([whole.cut, whole.hunks.length]).toEqual([false, 1])
    const { hunks, cut, added, removed } = hunksBetween(before.join(''), after.join(''))
    expect([cut, added, removed, hunks.length]).toEqual([true, 4000, 4000, 1])
    const [hunk] = hunks
    expect(before.join('').startsWith(hunk?.oldText ?? '-')).toBe(true)
    expect(after.join('').startsWith(hunk?.newText ?? '-')).toBe(true)
    const units = (hunk?.oldText.length ?? 0) + (hunk?.newText.length ?? 0)
    expect(units).toBeGreaterThan(200 * 1024)
    expect(units).toBeLessThanOrEqual(256 * 1024)
  })

  it('keep every whole change that there is room for', () => {
    const before = Array.from({ length: 20_000 }, (_, index) => `line ${index} ${'x'.repeat(40)}\n`)
    const after = before.map((each, index) => (index % 20 === 0 ? `changed ${each}` : each))
    const { hunks, cut } = hunksBetween(before.join(''), after.join(''))
    expect(cut).toBe(true)
    const units = hunks.reduce((sum, { oldText, newText }) => sum + oldText.length + newText.length, 0)
    expect(units).toBeGreaterThan(250 * 1024)
    for (const { oldStart, oldText } of hunks) {
      const old = linesOf(oldText)
      expect(before.slice(oldStart - 1, oldStart - 1 + old.length)).toEqual(old)
    }
  })
})

describe('matched lines', () => {
  it('are a longest common subsequence', () => {
    fc.assert(
      fc.property(fc.array(line, { maxLength: 90 }), fc.array(line, { maxLength: 90 }), (a, b) => {
        const matched = matchLines(a, b)
        expectHonest(a, b, matched)
        expect(matched.filter((place) => place >= 0)).toHaveLength(lengthOfLongestCommon(a, b))
      }),
      { numRuns: 500 },
    )
  })

  it.each([
    ['every second line changed', (index: number) => (index % 2 === 0 ? `line ${index}` : `other ${index}`)],
    ['everything changed', (index: number) => `other ${index}`],
    ['the order reversed', (index: number) => `line ${4999 - index}`],
    ['few different lines', (index: number) => `line ${(index * 7919) % 11}`],
  ])(
    'are minimal for 5,000 lines with %s, in less than 100 ms',
    (_name, other) => {
      const a = Array.from({ length: 5000 }, (_, index) => `line ${index}`)
      const b = Array.from({ length: 5000 }, (_, index) => other(index))
      const { matched, elapsed } = bestOf(5, a, b)
      expectHonest(a, b, matched)
      expect(matched.filter((place) => place >= 0)).toHaveLength(lengthOfLongestCommon(a, b))
      expect(elapsed).toBeLessThan(100)
    },
    60_000,
  )

  it.each([
    [
      'many alike',
      60_000,
      (index: number) => `line ${(index * 31) % 17}`,
      (index: number) => `line ${(index * 37) % 19}`,
    ],
    ['shuffled', 100_000, (index: number) => `line ${index}`, (index: number) => `line ${(index * 7919) % 100_000}`],
    [
      'blank in between',
      100_000,
      (index: number) => (index % 2 === 0 ? '' : `${index}`),
      (index: number) => (index % 3 === 0 ? '' : `${index}`),
    ],
  ])(
    'are honest and quick for a hundred thousand lines, %s',
    (_name, count, one, other) => {
      const a = Array.from({ length: count }, (_, index) => one(index))
      const b = Array.from({ length: count }, (_, index) => other(index))
      const { matched, elapsed } = bestOf(3, a, b)
      expectHonest(a, b, matched)
      expect(elapsed).toBeLessThan(5000) // a tenth of it on an idle machine; without the windows it would be minutes
    },
    60_000,
  )
})
