// The part of a text that a rewrite changes, for a person to look at. Pure.

const CONTEXT = 3

/** Whole lines, with three that stay on either side. */
export function changedPart(before: string, after: string): { readonly before: string; readonly after: string } {
  const [oldLines, newLines] = [linesOf(before), linesOf(after)]
  const most = Math.min(oldLines.length, newLines.length)
  let from = 0
  while (from < most && oldLines[from] === newLines[from]) from++
  let back = 0
  while (back < most - from && oldLines[oldLines.length - 1 - back] === newLines[newLines.length - 1 - back]) back++
  const start = Math.max(0, from - CONTEXT)
  const end = Math.max(0, back - CONTEXT)
  const part = (lines: readonly string[]): string => lines.slice(start, lines.length - end).join('')
  return { before: part(oldLines), after: part(newLines) }
}

/** Lines with their endings. */
export function linesOf(text: string): string[] {
  return text.match(/[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+$/g) ?? []
}
