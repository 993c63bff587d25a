// The lines of a diff, as a reader sees them: what went, what came, what stayed. Pure. An unchanged line is never shown as removed and added.
import { diffArrays } from 'diff'
import type { FileDiff } from '@deepseek-ai/dsh-tools'

export interface DiffLine {
  readonly sign: ' ' | '+' | '-'
  readonly text: string
  /** 1-based; undefined on the side where the line is not. */
  readonly oldNumber: number | undefined
  readonly newNumber: number | undefined
}

/** Beyond this many changes the search for a minimal diff ends: all of one side, then all of the other. */
const maxEdits = 2000

export function diffLines({ oldText, newText, oldStart = 1, newStart = 1 }: FileDiff): DiffLine[] {
  const before = oldText === null ? [] : splitLines(oldText)
  const after = splitLines(newText)
  const parts = diffArrays(before, after, { maxEditLength: maxEdits }) ?? [
    { value: before, removed: true, added: false },
    { value: after, removed: false, added: true },
  ]
  const lines: DiffLine[] = []
  let [oldNumber, newNumber] = [oldStart, newStart]
  for (const { value, added, removed } of parts) {
    for (const text of value) {
      lines.push({
        sign: added ? '+' : removed ? '-' : ' ',
        text,
        oldNumber: added ? undefined : oldNumber++,
        newNumber: removed ? undefined : newNumber++,
      })
    }
  }
  return lines
}

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
