// The cards of both tools: from the arguments while they run, from the log afterwards. Total functions over any old log.
import type {
  GenericCallView,
  Json,
  JsonObject,
  PresentedResult,
  SearchMatch,
  SearchResultView,
} from '@deepseek-ai/dsh-tools'
import { receiptLines, shownName, type Completeness } from './completeness.ts'
import { foldersText, pathsWord } from './glob-render.ts'
import type { GlobArgs, GlobValue } from './glob-schema.ts'
import { pageWord } from './grep-render.ts'
import type { GrepArgs, GrepValue } from './grep-schema.ts'

/** Of the lines or paths of a card, in the session log. */
const MAX_META_BYTES = 57_344
const MAX_REMARK = 1000
/** A line as the log keeps it: number, text, 1 for context, starts and ends of matches. */
type Row = [number: number, text: string, context: 0 | 1, ...ranges: number[]]

export function presentGrepCall({ pattern, path, glob }: GrepArgs): GenericCallView {
  const globs = typeof glob === 'string' ? [glob] : (glob ?? [])
  const where = [path, ...globs].filter((part) => part !== undefined)
  return { card: 'generic', kind: 'search', title: where.length === 0 ? pattern : `${pattern} in ${where.join(' ')}` }
}

export function presentGlobCall({ pattern, path }: GlobArgs): GenericCallView {
  return { card: 'generic', kind: 'search', title: path === undefined ? pattern : `${pattern} in ${path}` }
}

export function grepMeta(value: GrepValue): JsonObject {
  const { mode, total, completeness, path } = value
  const lines = receiptLines(completeness, { where: path, page: pageWord(value), found: value.files.length > 0 })
  if (mode !== 'matches') {
    if (mode === 'count') lines.unshift(`${total} lines match in all`)
    const listed = value.files.map((file) => file.path)
    return { ...paths(listed, completeness, lines), total: completeness.truncated?.total ?? listed.length }
  }
  const files: [string, ...Row[]][] = []
  let bytes = 0
  let isCut = false
  for (const file of value.files) {
    const rows: Row[] = []
    for (const { line, text, context, ranges = [] } of file.matches ?? []) {
      const row: Row = [line, text, context === true ? 1 : 0, ...ranges.flat()]
      bytes += Buffer.byteLength(JSON.stringify(row)) + 1
      isCut = bytes > MAX_META_BYTES
      if (isCut) break
      rows.push(row)
    }
    bytes += Buffer.byteLength(JSON.stringify(file.path)) + 3
    if (rows.length > 0) files.push([file.path, ...rows])
    if (isCut) break
  }
  return { files, ...facts(completeness, lines, isCut), total }
}

export function globMeta(value: GlobValue): JsonObject {
  const { completeness, path, total, folders } = value
  const lines = receiptLines(completeness, { where: path, page: pathsWord(value), found: value.paths.length > 0 })
  if (folders !== undefined && folders.length > 1) lines.push(foldersText(folders))
  return { ...paths(value.paths, completeness, lines), total }
}

function paths(all: readonly string[], completeness: Completeness, lines: readonly string[]): JsonObject {
  const { kept, isCut } = fitting(all)
  return { paths: kept, ...facts(completeness, lines, isCut) }
}

function fitting(all: readonly string[]): { kept: string[]; isCut: boolean } {
  const kept: string[] = []
  let bytes = 0
  for (const path of all) {
    bytes += Buffer.byteLength(JSON.stringify(path)) + 1
    if (bytes > MAX_META_BYTES) return { kept, isCut: true }
    kept.push(path)
  }
  return { kept, isCut: false }
}

function facts(completeness: Completeness, lines: readonly string[], isCut: boolean): JsonObject {
  const { complete, truncated, stopped, unreadable } = completeness
  return {
    complete,
    truncated: truncated !== undefined || isCut,
    ...(stopped === undefined ? {} : { stopped: true }),
    remarks: [
      ...lines,
      ...(unreadable.length === 0 ? [] : [`could not be read: ${unreadable.map(shownName).join(', ')}`]),
      ...(isCut ? ['the card shows the first part of what the model reads'] : []),
    ].map((remark) => remark.slice(0, MAX_REMARK).replace(/[\uD800-\uDBFF]$/, '')),
  }
}

export function presentSearchResult({ isError, meta }: PresentedResult): SearchResultView | undefined {
  if (isError || !isObject(meta)) return undefined
  const { total } = meta
  const base = {
    card: 'search' as const,
    truncated: meta['truncated'] === true,
    total: typeof total === 'number' && Number.isSafeInteger(total) && total >= 0 ? total : 0,
    ...optional('notes', notesOf(meta)),
    ...optional('remarks', texts(meta['remarks']).map(sentence)),
  }
  if (Array.isArray(meta['files'])) return { ...base, shape: 'matches', files: meta['files'].flatMap(fileOf) }
  return { ...base, shape: 'paths', paths: texts(meta['paths']) }
}

function notesOf({ complete, truncated, stopped }: JsonObject): string[] {
  if (stopped === true) return ['ended early']
  if (truncated === true) return ['more results']
  return complete === false ? ['incomplete'] : []
}

function fileOf(file: Json): { path: string; matches: SearchMatch[] }[] {
  if (!Array.isArray(file)) return []
  const [path, ...rows] = file as readonly Json[]
  return typeof path === 'string' ? [{ path, matches: rows.flatMap(matchesOf) }] : []
}

/** A match that spans lines is shown as so many lines. */
function matchesOf(row: Json): SearchMatch[] {
  if (!Array.isArray(row)) return []
  const [number, text, context, ...ranges] = row as readonly Json[]
  if (typeof number !== 'number' || !Number.isSafeInteger(number) || number < 1 || typeof text !== 'string') return []
  let start = 0
  return text.split('\n').map((line, index) => {
    const own = rangesIn(ranges, start, line.length)
    start += line.length + 1
    return {
      lineNumber: number + index,
      line,
      ...(own.length === 0 ? {} : { ranges: own }),
      ...(context === 1 ? { context: true as const } : {}),
    }
  })
}

function rangesIn(flat: readonly Json[], start: number, length: number): [number, number][] {
  const own: [number, number][] = []
  for (let at = 0; at + 1 < flat.length; at += 2) {
    const [from, to] = [flat[at], flat[at + 1]]
    if (!Number.isSafeInteger(from) || !Number.isSafeInteger(to)) continue
    const [first, last] = [Math.max(0, (from as number) - start), Math.min(length, (to as number) - start)]
    if (last > first) own.push([first, last])
  }
  return own
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}

function optional<Key extends string>(key: Key, list: string[]): { [name in Key]?: string[] } {
  return list.length === 0 ? {} : ({ [key]: list } as { [name in Key]: string[] })
}

function texts(value: Json | undefined): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
