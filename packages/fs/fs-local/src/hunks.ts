// Hunks for people: which lines changed, with three around each. Minimal, so that a line that stayed is never told as removed and added.
import { diffArrays } from 'diff'
import type { FsHunk } from '@deepseek-ai/dsh-fs'

const CONTEXT = 3
/** Of all hunks of one write together, in UTF-16 units. */
const MOST_UNITS = 256 * 1024
/** Above this many lines on both sides only the part between the first and the last change is told, as one hunk. */
const MOST_COMPARED = 40_000
const MOST_EDITS = 1000

export interface Hunks {
  readonly hunks: readonly FsHunk[]
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

/** `before` is null for a new file: then there is nothing to compare and no hunk. */
export function hunksBetween(before: string | null, after: string): Hunks {
  const oldLines = linesOf(before ?? '')
  const newLines = linesOf(after)
  const changes = changesBetween(oldLines, newLines)
  const added = changes.reduce((sum, change) => sum + change.newEnd - change.newStart, 0)
  const removed = changes.reduce((sum, change) => sum + change.oldEnd - change.oldStart, 0)
  if (before === null) return { hunks: [], cut: false, added, removed }
  const hunks: FsHunk[] = []
  let units = 0
  for (const { oldStart, oldEnd, newStart, newEnd } of grouped(changes, oldLines.length)) {
    const oldText = oldLines.slice(oldStart, oldEnd).join('')
    const newText = newLines.slice(newStart, newEnd).join('')
    units += oldText.length + newText.length
    if (units > MOST_UNITS) return { hunks, cut: true, added, removed }
    hunks.push({ oldStart: oldStart + 1, newStart: newStart + 1, oldText, newText })
  }
  return { hunks, cut: false, added, removed }
}

function changesBetween(oldLines: readonly string[], newLines: readonly string[]): Change[] {
  let from = 0
  const most = Math.min(oldLines.length, newLines.length)
  while (from < most && oldLines[from] === newLines[from]) from++
  let back = 0
  while (back < most - from && oldLines[oldLines.length - 1 - back] === newLines[newLines.length - 1 - back]) back++
  const middle = { oldStart: from, oldEnd: oldLines.length - back, newStart: from, newEnd: newLines.length - back }
  const [oldCount, newCount] = [middle.oldEnd - from, middle.newEnd - from]
  if (oldCount === 0 && newCount === 0) return []
  if (oldCount + newCount > MOST_COMPARED || oldCount === 0 || newCount === 0) return [middle]
  const parts = diffArrays(oldLines.slice(from, middle.oldEnd), newLines.slice(from, middle.newEnd), {
    maxEditLength: MOST_EDITS,
  })
  return parts === undefined ? [middle] : collected(parts, from)
}

function collected(
  parts: readonly { readonly value: readonly unknown[]; readonly added: boolean; readonly removed: boolean }[],
  from: number,
): Change[] {
  const changes: Change[] = []
  let [oldAt, newAt] = [from, from]
  for (const { value, added, removed } of parts) {
    const last = changes.at(-1)
    if (!added && !removed) {
      oldAt += value.length
      newAt += value.length
      continue
    }
    const joins = last !== undefined && last.oldEnd === oldAt && last.newEnd === newAt
    const change = joins ? last : { oldStart: oldAt, oldEnd: oldAt, newStart: newAt, newEnd: newAt }
    if (!joins) changes.push(change)
    if (removed) oldAt = change.oldEnd += value.length
    else newAt = change.newEnd += value.length
  }
  return changes
}

/** Changes with their surroundings; those whose surroundings touch become one. */
function grouped(changes: readonly Change[], oldCount: number): Change[] {
  const groups: Change[] = []
  for (const { oldStart, oldEnd, newStart, newEnd } of changes) {
    const before = Math.min(CONTEXT, oldStart)
    const after = Math.min(CONTEXT, oldCount - oldEnd)
    const last = groups.at(-1)
    if (last !== undefined && oldStart - before <= last.oldEnd) {
      last.oldEnd = oldEnd + after
      last.newEnd = newEnd + after
    } else {
      groups.push({
        oldStart: oldStart - before,
        oldEnd: oldEnd + after,
        newStart: newStart - before,
        newEnd: newEnd + after,
      })
    }
  }
  return groups
}

/** Lines with their endings. */
function linesOf(text: string): string[] {
  return text.match(/[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+$/g) ?? []
}
