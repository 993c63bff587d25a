// What a model reads of a `grep`: lines by file, then the receipt in brackets.
import { receiptLines, shownName } from './completeness.ts'
import type { GrepFile, GrepLine, GrepValue } from './grep-schema.ts'

export function renderGrep(value: GrepValue): string {
  const { files, completeness, path } = value
  const body = files.length === 0 ? nothing(value) : value.mode === 'matches' ? blocks(files) : list(files, value)
  const receipt = receiptLines(completeness, { where: path, page: pageWord(value), found: files.length > 0 }).map(
    (line) => `[${line}]`,
  )
  return [body, ...receipt].join('\n')
}

/** What the numbers of a page count. */
export function pageWord({ mode }: GrepValue): string {
  return mode === 'matches' ? 'matches, in path order' : 'files, in path order'
}

function nothing({ completeness: { truncated, stopped } }: GrepValue): string {
  if (truncated !== undefined && truncated.total > 0) return 'No more matches: the offset is past the last one.'
  return stopped === undefined ? 'No matches.' : 'No matches so far.'
}

function blocks(files: readonly GrepFile[]): string {
  return files.map(({ path, matches = [] }) => `${shownName(path)}\n${rows(matches)}`).join('\n\n')
}

function rows(lines: readonly GrepLine[]): string {
  const shown: string[] = []
  let expected = lines[0]?.line ?? 1
  const hasContext = lines.some(({ context }) => context === true)
  for (const { line, text, context } of lines) {
    if (hasContext && line > expected) shown.push('--')
    const parts = text.split('\n')
    parts.forEach((part, index) => shown.push(`${line + index}${context === true ? '-' : ':'} ${printable(part)}`))
    expected = line + parts.length
  }
  return shown.join('\n')
}

function list(files: readonly GrepFile[], { mode, total }: GrepValue): string {
  const lines = files.map(({ path, count }) => (count === undefined ? shownName(path) : `${shownName(path)}: ${count}`))
  return mode === 'count' ? [...lines, `${total} lines match in all.`].join('\n') : lines.join('\n')
}

/** Escape sequences and other controls do nothing to whoever shows the text. */
function printable(text: string): string {
  // eslint-disable-next-line no-control-regex
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f]/g, '\uFFFD')
}
