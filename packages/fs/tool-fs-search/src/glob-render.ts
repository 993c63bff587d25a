// What a model reads of a `glob`: a path a line, then where the rest is and the receipt in brackets.
import { receiptLines, shownName } from './completeness.ts'
import type { GlobValue } from './glob-schema.ts'

export function renderGlob(value: GlobValue): string {
  const { paths, completeness, folders, path } = value
  const body = paths.length === 0 ? nothing(value) : paths.map(shownName).join('\n')
  const receipt = receiptLines(completeness, { where: path, page: pathsWord(value), found: paths.length > 0 })
  if (folders !== undefined && folders.length > 1) receipt.splice(1, 0, foldersText(folders))
  return [body, ...receipt.map((line) => `[${line}]`)].join('\n')
}

/** What the numbers of a page count. */
export function pathsWord({ order }: GlobValue): string {
  return order === 'newest' ? 'files, newest first' : 'files, in path order'
}

export function foldersText(folders: NonNullable<GlobValue['folders']>): string {
  return `by folder: ${folders.map(({ path, count }) => `${shownName(path)} ${count}`).join(', ')}`
}

function nothing({ path, completeness: { truncated, stopped } }: GlobValue): string {
  if (truncated !== undefined && truncated.total > 0) return 'No more files: the offset is past the last one.'
  return stopped === undefined ? `No files match in ${shownName(path)}.` : 'No files so far.'
}
