// The lines of a diff, as a reader sees them: what went, what came, what stayed. Pure. An unchanged line is never shown as removed and added.
import { matchLines } from '@deepseek-ai/dsh-fs/line-diff'
import type { FileDiff } from '@deepseek-ai/dsh-tools'

export interface DiffLine {
  readonly sign: ' ' | '+' | '-'
  readonly text: string
  /** 1-based; undefined on the side where the line is not. */
  readonly oldNumber: number | undefined
  readonly newNumber: number | undefined
}

export function diffLines({ oldText, newText, oldStart = 1, newStart = 1 }: FileDiff): DiffLine[] {
  const before = oldText === null ? [] : splitLines(oldText)
  const after = splitLines(newText)
  const lines: DiffLine[] = []
  let [oldAt, newAt] = [0, 0]
  const removedUpTo = (end: number): void => {
    for (; oldAt < end; oldAt++) lines.push(line('-', before[oldAt], oldStart + oldAt, undefined))
  }
  const addedUpTo = (end: number): void => {
    for (; newAt < end; newAt++) lines.push(line('+', after[newAt], undefined, newStart + newAt))
  }
  for (const [oldIndex, newIndex] of matchLines(before, after).entries()) {
    if (newIndex < 0) continue
    removedUpTo(oldIndex)
    addedUpTo(newIndex)
    lines.push(line(' ', before[oldIndex], oldStart + oldAt++, newStart + newAt++))
  }
  removedUpTo(before.length)
  addedUpTo(after.length)
  return lines
}

const line = (
  sign: DiffLine['sign'],
  text = '',
  oldNumber: number | undefined,
  newNumber: number | undefined,
): DiffLine => ({ sign, text, oldNumber, newNumber })

export function countChanges(lines: readonly DiffLine[]): { readonly added: number; readonly removed: number } {
  const count = (sign: DiffLine['sign']): number => lines.filter((line) => line.sign === sign).length
  return { added: count('+'), removed: count('-') }
}

/** A line ending of Windows is no part of the line to the eye. */
function splitLines(text: string): string[] {
  if (text === '') return []
  const lines = text.split(/\r\n|\n|\r/)
  if (lines.at(-1) === '') lines.pop()
  return lines
}
