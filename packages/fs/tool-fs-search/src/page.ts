// One page of lines: so many matches from an offset on, with the lines around them, within a budget of bytes.
import type { Row } from './hits.ts'
import type { PathKey } from './path-order.ts'

export interface FileRows {
  readonly path: PathKey
  /** In the order of the file. */
  readonly rows: readonly Row[]
}

export interface PageRequest {
  /** Matches to leave out first. */
  readonly offset: number
  readonly limit: number
  /** UTF-8 bytes of what is shown; one match is shown whatever it takes. */
  readonly budget: number
  readonly before: number
  readonly after: number
}

/** Beside the text of a line: its number, a separator, a line ending. */
const ROW_OVERHEAD = 12

/** Files in path order. */
export function pageOf(files: readonly FileRows[], request: PageRequest): { files: FileRows[]; shown: number } {
  const page: FileRows[] = []
  let skip = request.offset
  let { limit, budget } = request
  let shown = 0
  for (const { path, rows } of files) {
    if (limit <= 0) break
    const hits = rows.filter(({ context }) => !context)
    const selected = hits.slice(skip, skip + limit)
    skip = Math.max(0, skip - hits.length)
    if (selected.length === 0) continue
    const part = fitting(rows, selected, request, budget - path.length - 2, shown === 0)
    if (part.count === 0) break
    page.push({ path, rows: part.rows })
    shown += part.count
    limit -= part.count
    budget -= part.bytes + path.length + 2
    if (part.count < selected.length) break
  }
  return { files: page, shown }
}

function fitting(
  rows: readonly Row[],
  selected: readonly Row[],
  request: PageRequest,
  budget: number,
  first: boolean,
): { rows: readonly Row[]; count: number; bytes: number } {
  for (let count = selected.length; count > 0;) {
    const chosen = around(rows, selected.slice(0, count), request)
    const bytes = chosen.reduce((sum, { text }) => sum + Buffer.byteLength(text) + ROW_OVERHEAD, 0)
    if (bytes <= budget) return { rows: chosen, count, bytes }
    if (count === 1 && first) return { rows: chosen, count, bytes }
    count = Math.min(count - 1, Math.floor((count * Math.max(0, budget)) / bytes))
    if (count === 0 && first) count = 1
  }
  return { rows: [], count: 0, bytes: 0 }
}

/** The selected matches and what belongs around them. */
function around(rows: readonly Row[], selected: readonly Row[], { before, after }: PageRequest): readonly Row[] {
  if (before === 0 && after === 0) return selected
  const wanted = new Set(selected)
  const chosen = new Set<Row>(selected)
  rows.forEach((match, at) => {
    if (!wanted.has(match)) return
    const end = match.line + lineCount(match.text) - 1
    for (let up = at - 1; up >= 0; up--) {
      const row = rows[up]
      if (row === undefined || match.line - row.line > before) break
      if (row.context) chosen.add(row)
    }
    for (let down = at + 1; down < rows.length; down++) {
      const row = rows[down]
      if (row === undefined || row.line - end > after) break
      if (row.context) chosen.add(row)
    }
  })
  return rows.filter((row) => chosen.has(row))
}

function lineCount(text: string): number {
  let count = 1
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count++
  return count
}
