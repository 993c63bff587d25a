// Finds where an old text is in a file. Lenient in three named steps, never guessing: the first step that finds anything decides, and it must
// find one place, or every place when all were asked for.
import type { FsStrategy } from '@deepseek-ai/dsh-fs'

/** UTF-16 units of the text, end exclusive. */
export interface Place {
  readonly start: number
  readonly end: number
}

export interface Matches {
  readonly strategy: FsStrategy
  readonly places: readonly Place[]
}

/** With `all` the places do not overlap; else every place counts, for a text that overlaps itself is there more than once. */
export function findText(text: string, oldText: string, all: boolean): Matches | undefined {
  const exact = exactPlaces(text, oldText, all)
  if (exact.length > 0) return { strategy: 'exact', places: exact }
  const endings = anyEndingPlaces(text, oldText, all)
  if (endings.length > 0) return { strategy: 'line-endings', places: endings }
  const spaces = anyWhitespacePlaces(text, oldText, all)
  return spaces.length > 0 ? { strategy: 'whitespace', places: spaces } : undefined
}

/** First to last. Half of a CRLF is no line ending. */
function exactPlaces(text: string, oldText: string, all: boolean): Place[] {
  const places: Place[] = []
  for (let start = text.indexOf(oldText); start >= 0;) {
    const end = start + oldText.length
    const isWhole = !splitsCrlf(text, start) && !splitsCrlf(text, end)
    if (isWhole) places.push({ start, end })
    start = text.indexOf(oldText, isWhole && all ? end : start + 1)
  }
  return places
}

function splitsCrlf(text: string, at: number): boolean {
  return text[at] === '\n' && text[at - 1] === '\r'
}

/** One line ending, never half of one. */
const ENDING = String.raw`(?:\r\n|(?<!\r)\n|\r(?!\n))`

function anyEndingPlaces(text: string, oldText: string, all: boolean): Place[] {
  const lines = oldText.split(/\r\n|\n|\r/)
  if (lines.length === 1) return []
  const pattern = new RegExp(lines.map(escaped).join(ENDING), 'g')
  const places: Place[] = []
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    places.push({ start: match.index, end: pattern.lastIndex })
    if (!all) pattern.lastIndex = match.index + 1
  }
  return places
}

/** Whole lines that are the same but for white space, typographic quotes and Unicode forms. */
function anyWhitespacePlaces(text: string, oldText: string, all: boolean): Place[] {
  const wanted = trimBlank(splitLines(oldText).map((line) => folded(line.text)))
  if (wanted.length === 0) return []
  const lines = splitLines(text)
  const keys = lines.map((line) => folded(line.text))
  const places: Place[] = []
  for (let at = 0; at + wanted.length <= lines.length; at++) {
    if (keys[at] !== wanted[0] || !wanted.every((key, index) => keys[at + index] === key)) continue
    const last = lines[at + wanted.length - 1]!
    // Without the last line ending, unless the old text had one as well.
    const end = /[\r\n]$/.test(oldText) ? last.next : last.end
    places.push({ start: lines[at]!.start, end })
    if (all) at += wanted.length - 1
  }
  return places
}

export interface Line {
  readonly text: string
  readonly start: number
  /** Before its line ending. */
  readonly end: number
  /** Where the next line begins. */
  readonly next: number
}

export function splitLines(text: string): Line[] {
  const lines: Line[] = []
  let start = 0
  for (const { 0: ending, index } of text.matchAll(/\r\n|\n|\r/g)) {
    lines.push({ text: text.slice(start, index), start, end: index, next: index + ending.length })
    start = index + ending.length
  }
  if (start < text.length) lines.push({ text: text.slice(start), start, end: text.length, next: text.length })
  return lines
}

/** For comparing only; nothing that is written is ever folded. */
export function folded(line: string): string {
  return line
    .normalize('NFKC')
    .replace(/[\u2018\u2019]/g, "'")
    .replace(/[\u201c\u201d]/g, '"')
    .replace(/[\u2010-\u2015]/g, '-')
    .replace(/\s+/g, ' ')
    .trim()
}

function trimBlank(lines: readonly string[]): string[] {
  let [from, to] = [0, lines.length]
  while (from < to && lines[from] === '') from++
  while (to > from && lines[to - 1] === '') to--
  return lines.slice(from, to)
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
}
