// The list_dir tool: one level of a folder, by name.
import type { FsEntry } from '@deepseek-ai/dsh-fs'
import { defineTool, type ToolDefinition, type ToolExecution } from '@deepseek-ai/dsh-tools'
import { advising } from './errors.ts'
import { FOLDER_PATH, LIST_VALUE, type ListValue } from './schema.ts'
import { readPolicyOf, targetOf, type FsToolSetup } from './services.ts'
import { counted } from './wording.ts'

export function listDirTool(setup: FsToolSetup): ToolDefinition {
  const { listLimit } = setup.config
  return defineTool({
    name: 'list_dir',
    description: `Lists what is in a folder, one level, by name, hidden and ignored entries included: folders with a slash, files with their \
size, links with where they lead. Long lists are given in parts; the last line says how to go on. To find files below, search instead.`,
    parameters: {
      path: FOLDER_PATH,
      offset: { type: 'integer', minimum: 1, description: 'First entry, counted from 1. Default 1.' },
      limit: {
        type: 'integer',
        minimum: 1,
        maximum: listLimit,
        description: `How many entries, at most. Default ${listLimit}.`,
      },
    },
    output: {
      schema: LIST_VALUE,
      render: (_args, value) => [{ type: 'text', text: renderList(value) }],
    },
    isConcurrencySafe: () => true,
    execute: ({ path = '.', offset = 1, limit = listLimit }, exec) =>
      advising('list', () => list(setup, { path, offset, limit }, exec)),
    presentCall: ({ path = '.' }) => ({ card: 'generic', title: path, kind: 'read', locations: [{ path }] }),
  })
}

interface Window {
  readonly path: string
  readonly offset: number
  readonly limit: number
}

async function list({ services }: FsToolSetup, window: Window, exec: ToolExecution): Promise<ListValue> {
  const { path, offset, limit } = window
  const target = await targetOf(services, path, exec)
  const policy = await readPolicyOf(services, exec)
  const all = await services.fs.list(target, { signal: exec.signal, policy })
  const entries = all.slice(offset - 1, offset - 1 + limit)
  const end = offset - 1 + entries.length
  return {
    path: target.path,
    offset,
    entries: entries.map(entryValue),
    total: all.length,
    ...(entries.length > 0 && end < all.length ? { next: end + 1 } : {}),
  }
}

function entryValue({ name, type, size, link }: FsEntry): ListValue['entries'][number] {
  return {
    name,
    type,
    ...(size === undefined ? {} : { size }),
    ...(link === undefined ? {} : { link: { to: link.to, dangling: link.dangling } }),
  }
}

export function renderList({ offset, entries, total, next }: ListValue): string {
  const lines = entries.map(entryText)
  return [...lines, `[${extent(offset, entries.length, total, next)}]`].join('\n')
}

function entryText({ name, type, size, link }: ListValue['entries'][number]): string {
  const shown = shownName(name)
  if (link !== undefined) return `${shown} -> ${shownName(link.to)}${link.dangling ? ' (nothing there)' : ''}`
  if (type === 'directory') return `${shown}/`
  if (type === 'file') return size === undefined ? shown : `${shown} (${sizeText(size)})`
  return `${shown} (${type === 'symlink' ? 'link' : 'no file or folder, or gone'})`
}

/** A name with a line break in it would look like two. */
function shownName(name: string): string {
  return /[\p{Cc}\p{Zl}\p{Zp}]/u.test(name) ? JSON.stringify(name) : name
}

function extent(offset: number, shown: number, total: number, next: number | undefined): string {
  if (total === 0) return 'the folder is empty'
  const all = counted(total, 'entry', 'entries')
  if (shown === 0) return `the folder has ${all}; there is nothing from entry ${offset} on`
  if (next !== undefined) return `entries ${offset}-${offset + shown - 1} of ${total}; go on with offset: ${next}`
  return offset === 1 ? all : `entries ${offset}-${total}, to the end`
}

function sizeText(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  const units = ['kB', 'MB', 'GB', 'TB', 'PB']
  let [size, unit] = [bytes / 1000, 0]
  while (size >= 999.5 && unit < units.length - 1) {
    size /= 1000
    unit++
  }
  return `${size < 10 ? size.toFixed(1) : Math.round(size)} ${units[unit]}`
}
