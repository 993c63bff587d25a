// What to tell of an old text that was not found or not unique: where it nearly is, and what stands there.
import { folded, splitLines, type Line, type Place } from './matching.ts'

const SHOWN_PLACES = 10
const SHOWN_LINES = 6
const SHOWN_LENGTH = 160
/** Larger files are not searched for something similar. */
const MOST_LINES = 50_000
const MOST_LENGTH = 16 * 1024 * 1024

/** `3 places: lines 4, 10-12, 80`. */
export function placesText(text: string, places: readonly Place[]): string {
  const shown = places.slice(0, SHOWN_PLACES).map(({ start, end }) => {
    const first = lineNumber(text, start)
    const last = lineNumber(text, Math.max(start, end - 1))
    return first === last ? String(first) : `${first}-${last}`
  })
  const more = places.length - shown.length
  return `${places.length} places: lines ${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

/** The closest lines, numbered, or a sentence that says why there are none. */
export function closestText(text: string, oldText: string): string {
  const lines = text.length > MOST_LENGTH ? [] : splitLines(text)
  if (text.length > MOST_LENGTH || lines.length > MOST_LINES)
    return 'The file is too large to look for something similar.'
  const wanted = splitLines(oldText).filter((line) => folded(line.text) !== '')
  const first = wanted[0]
  if (first === undefined) return ''
  const apart = farApart(lines, wanted)
  if (apart !== undefined) return apart
  const best = mostAlike(lines, folded(first.text))
  if (best === undefined) return 'Nothing in the file is similar to its first line.'
  const count = Math.min(SHOWN_LINES, Math.max(3, wanted.length))
  const shown = lines.slice(best, best + count).map(({ text: line }, index) => `${best + index + 1}: ${cut(line)}`)
  return `The closest lines are:\n${shown.join('\n')}`
}

/** Glued together from two places: the first line is here, the last one there. */
function farApart(lines: readonly Line[], wanted: readonly Line[]): string | undefined {
  if (wanted.length < 2) return undefined
  const [first, last] = [folded(wanted[0]!.text), folded(wanted.at(-1)!.text)]
  const at = lines.findIndex((line) => folded(line.text) === first)
  const end = lines.findLastIndex((line) => folded(line.text) === last)
  if (at < 0 || end < 0 || end - at + 1 === wanted.length) return undefined
  return `Its first line is line ${at + 1} and its last is line ${end + 1}, with other lines between or in another order; the old text must be one piece.`
}

function mostAlike(lines: readonly Line[], wanted: string): number | undefined {
  const pairs = pairsOf(wanted)
  let [best, score] = [-1, 0.45]
  for (const [index, line] of lines.entries()) {
    const key = folded(line.text)
    if (key === '' || Math.abs(key.length - wanted.length) > wanted.length) continue
    const alike = key === wanted ? 1 : similarity(pairs, pairsOf(key))
    if (alike > score) [best, score] = [index, alike]
  }
  return best < 0 ? undefined : best
}

/** Share of neighbouring letter pairs that two lines have in common. */
function similarity(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): number {
  let [common, total] = [0, 0]
  for (const [pair, count] of a) {
    total += count
    common += Math.min(count, b.get(pair) ?? 0)
  }
  for (const count of b.values()) total += count
  return total === 0 ? 0 : (2 * common) / total
}

function pairsOf(text: string): Map<string, number> {
  const pairs = new Map<string, number>()
  for (let at = 0; at + 1 < text.length && at < 400; at++) {
    const pair = text.slice(at, at + 2)
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1)
  }
  return pairs
}

export function lineNumber(text: string, offset: number): number {
  let number = 1
  for (const { index, 0: ending } of text.matchAll(/\r\n|\n|\r/g)) {
    if (index + ending.length > offset) break
    number++
  }
  return number
}

function cut(line: string): string {
  return line.length <= SHOWN_LENGTH ? line : `${line.slice(0, SHOWN_LENGTH)}…`
}
