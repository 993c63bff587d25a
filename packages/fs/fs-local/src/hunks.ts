// Hunks for people: which lines changed, with three around each. A line that stayed is never told as removed and added in one change.
import type { FsHunk } from '@deepseek-ai/dsh-fs'
import { matchLines } from '@deepseek-ai/dsh-fs/line-diff'

export const CONTEXT_LINES = 3
/** Of all hunks of one write together, in UTF-16 units. */
const MOST_UNITS = 256 * 1024
/** Of both sides of one region together, in UTF-16 units. More is counted line by line, not compared. */
export const MOST_COMPARED = 4 * 1024 * 1024

/** A part of the old text and what it became, from and to the borders of lines, surroundings included. */
export interface Region {
  readonly oldText: string
  readonly newText: string
  /** Lines before it, on each side. */
  readonly oldLine: number
  readonly newLine: number
}

export interface Hunks {
  readonly hunks: readonly FsHunk[]
  /** Not every changed line is in `hunks`. */
  readonly cut: boolean
  readonly added: number
  readonly removed: number
}

interface Change {
  /** Lines before index `oldStart` (and `newStart`) are the same. */
  oldStart: number
  oldEnd: number
  newStart: number
  newEnd: number
}

/** Gathers hunks of one write, region by region, first to last. */
export class HunkCollector implements Hunks {
  readonly hunks: FsHunk[] = []
  cut = false
  added = 0
  removed = 0
  #units = MOST_UNITS

  add({ oldText, newText, oldLine, newLine }: Region): void {
    if (oldText === newText) return
    if (oldText.length + newText.length > MOST_COMPARED) return this.addCount(lineCount(oldText), lineCount(newText))
    const [oldLines, newLines] = [linesOf(oldText), linesOf(newText)]
    const changes = changesBetween(oldLines, newLines)
    for (const { oldStart, oldEnd, newStart, newEnd } of changes) {
      this.removed += oldEnd - oldStart
      this.added += newEnd - newStart
    }
    for (const group of grouped(changes, oldLines.length)) {
      if (this.cut) return
      this.#tell(group, { oldLines, newLines, oldLine, newLine })
    }
  }

  /** Lines that are counted only. */
  addCount(removed: number, added: number): void {
    this.removed += removed
    this.added += added
    this.cut = true
  }

  #tell(group: Group, { oldLines, newLines, oldLine, newLine }: Sides): void {
    const whole = { ...group }
    const size = unitsOf(oldLines, group.oldStart, group.oldEnd) + unitsOf(newLines, group.newStart, group.newEnd)
    if (size > this.#units) {
      this.cut = true
      const room = shortened(group, oldLines, newLines, this.#units)
      if (room === undefined) return
      Object.assign(whole, room)
    }
    this.#units -= size
    this.hunks.push({
      oldStart: oldLine + whole.oldStart + 1,
      newStart: newLine + whole.newStart + 1,
      oldText: oldLines.slice(whole.oldStart, whole.oldEnd).join(''),
      newText: newLines.slice(whole.newStart, whole.newEnd).join(''),
    })
  }
}

interface Sides extends Pick<Region, 'oldLine' | 'newLine'> {
  readonly oldLines: readonly string[]
  readonly newLines: readonly string[]
}

/** Changes that are told as one, surroundings included. */
interface Group extends Change {
  readonly changes: readonly Change[]
}

/** `before` is null for a new file: then there is nothing to compare and no hunk. */
export function hunksBetween(before: string | null, after: string): Hunks {
  const collector = new HunkCollector()
  if (before === null) collector.added = lineCount(after)
  else collector.add(changedRegion(before, after))
  return collector
}

/** Leaves out what is the same at both ends, but for the surroundings of the change. */
function changedRegion(before: string, after: string): Region {
  if (before === after) return { oldText: '', newText: '', oldLine: 0, newLine: 0 }
  const most = Math.min(before.length, after.length)
  const head = commonLength(most, (from, to) => before.slice(from, to) === after.slice(from, to))
  const tail = commonLength(
    most - head,
    (from, to) =>
      before.slice(before.length - to, before.length - from) === after.slice(after.length - to, after.length - from),
  )
  const start = linesBack(before, head, CONTEXT_LINES)
  const oldEnd = linesForth(before, before.length - tail, CONTEXT_LINES + 1)
  const newEnd = after.length - (before.length - oldEnd)
  const line = lineCount(before.slice(0, start))
  return { oldText: before.slice(start, oldEnd), newText: after.slice(start, newEnd), oldLine: line, newLine: line }
}

/** Compared in pieces, then in halves of the one that differs. */
function commonLength(most: number, same: (from: number, to: number) => boolean): number {
  let [at, step] = [0, 4096]
  while (at < most && step > 0) {
    const to = Math.min(most, at + step)
    if (same(at, to)) at = to
    else step >>= 1
  }
  return at
}

/** The start of the line that is `count` lines before the one that holds `at`. */
function linesBack(text: string, at: number, count: number): number {
  // Twice around where CR and LF might be taken for two: more surroundings do no harm.
  let start = at
  for (let left = count * 2 + 1; left > 0 && start > 0; left--) {
    start = start < 2 ? 0 : Math.max(text.lastIndexOf('\n', start - 2), text.lastIndexOf('\r', start - 2)) + 1
  }
  return start > 0 && text[start] === '\n' && text[start - 1] === '\r' ? start + 1 : start
}

function linesForth(text: string, at: number, count: number): number {
  const ending = /\r\n|\n|\r/g
  // A tail that begins at the LF of a CRLF.
  ending.lastIndex = text[at] === '\n' && text[at - 1] === '\r' ? at - 1 : at
  for (let left = count; left > 0; left--) if (ending.exec(text) === null) return text.length
  return ending.lastIndex
}

export function lineCount(text: string): number {
  if (text === '') return 0
  let count = /[\r\n]$/.test(text.slice(-1)) ? 0 : 1
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count++
  for (let at = text.indexOf('\r'); at >= 0; at = text.indexOf('\r', at + 1)) if (text[at + 1] !== '\n') count++
  return count
}

function changesBetween(oldLines: readonly string[], newLines: readonly string[]): Change[] {
  const matched = matchLines(oldLines, newLines)
  const changes: Change[] = []
  let [oldAt, newAt] = [0, 0]
  for (let at = 0; at <= oldLines.length; at++) {
    const place = at === oldLines.length ? newLines.length : matched[at]!
    if (place < 0) continue
    if (at > oldAt || place > newAt) changes.push({ oldStart: oldAt, oldEnd: at, newStart: newAt, newEnd: place })
    oldAt = at + 1
    newAt = place + 1
  }
  return changes
}

/** Changes with their surroundings; those whose surroundings touch become one. */
function grouped(changes: readonly Change[], oldCount: number): Group[] {
  const groups: (Group & { changes: Change[] })[] = []
  for (const change of changes) {
    const { oldStart, oldEnd, newStart, newEnd } = change
    const before = Math.min(CONTEXT_LINES, oldStart)
    const after = Math.min(CONTEXT_LINES, oldCount - oldEnd)
    const last = groups.at(-1)
    if (last !== undefined && oldStart - before <= last.oldEnd) {
      last.changes.push(change)
      last.oldEnd = oldEnd + after
      last.newEnd = newEnd + after
    } else {
      groups.push({
        oldStart: oldStart - before,
        oldEnd: oldEnd + after,
        newStart: newStart - before,
        newEnd: newEnd + after,
        changes: [change],
      })
    }
  }
  return groups
}

/** As many whole changes of a group as there is room for, or the first lines of its first one. Undefined: not even one. */
function shortened(
  { oldStart, newStart, changes }: Group,
  oldLines: readonly string[],
  newLines: readonly string[],
  room: number,
): Change | undefined {
  let kept: Change | undefined
  for (const { oldEnd, newEnd } of changes) {
    if (unitsOf(oldLines, oldStart, oldEnd) + unitsOf(newLines, newStart, newEnd) > room) break
    kept = { oldStart, oldEnd, newStart, newEnd }
  }
  const [first] = changes
  if (kept !== undefined || first === undefined) return kept
  const oldEnd = endWithin(oldLines, oldStart, first.oldEnd, room / 2)
  const newEnd = endWithin(newLines, newStart, first.newEnd, room - unitsOf(oldLines, oldStart, oldEnd))
  return oldEnd > first.oldStart || newEnd > first.newStart ? { oldStart, oldEnd, newStart, newEnd } : undefined
}

function endWithin(lines: readonly string[], from: number, to: number, room: number): number {
  let units = 0
  for (let at = from; at < to; at++) {
    units += lines[at]!.length
    if (units > room) return at
  }
  return to
}

function unitsOf(lines: readonly string[], from: number, to: number): number {
  let units = 0
  for (let at = from; at < to; at++) units += lines[at]!.length
  return units
}

/** Lines with their endings. */
export function linesOf(text: string): string[] {
  return text.match(/[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+$/g) ?? []
}
