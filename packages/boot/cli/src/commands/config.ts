// `dsh config`: compositions as text.
import { dump, type ComposedRow, type Composition, type Origin } from '@deepseek-ai/dsh-loader'
import { CommandError, EXIT, type ExitCode } from '../exit.ts'
import { composition, type HostFlags } from '../host.ts'

export async function dumpConfig(flags: HostFlags): Promise<ExitCode> {
  process.stdout.write(dump(composition(flags)))
  return EXIT.done
}

/** Which file and line has the last word on each field of a row. */
export async function explainConfig(id: string, flags: HostFlags): Promise<ExitCode> {
  const composed = composition(flags)
  const row = find(composed.rows, id)
  process.stdout.write(`${row === undefined ? leftOut(composed, id) : explained(row).join('\n')}\n`)
  return EXIT.done
}

function find(rows: readonly ComposedRow[], id: string): ComposedRow | undefined {
  for (const row of rows) {
    const found = row.id === id ? row : find(row.rows ?? [], id)
    if (found !== undefined) return found
  }
  return undefined
}

function leftOut({ rows, skipped }: Composition, id: string): string {
  const row = skipped.find((each) => each.id === id)
  if (row !== undefined) return `${id}  ${row.name ?? 'a group'}\n  left out here: ${row.reason}`
  const known = [...rows, ...skipped].map((each) => each.id)
  throw new CommandError(`no row has the id "${id}"; there are ${known.join(', ')}`, EXIT.usage)
}

function explained(row: ComposedRow): string[] {
  const entries = Object.entries(row.setBy)
    .filter(([path]) => path !== 'name')
    .map(([path, origin]) => [`${path}: ${valueAt(row, path)}`, placeOf(origin)] as const)
  const width = Math.max(0, ...entries.map(([text]) => text.length))
  return [
    `${row.id}  ${row.name ?? 'a group'}${row.disabled ? '  (disabled)' : ''}`,
    `  written at ${placeOf(row.origin)}`,
    ...row.changedBy.map((file) => `  changed by ${file}`),
    ...entries.map(([text, place]) => `  ${text.padEnd(width)}  ${place}`),
  ]
}

/** As it may be printed: secrets stay the variables that bring them. */
function valueAt(row: ComposedRow, path: string): string {
  const { shownConfig: config, ...fields } = row
  let value: unknown = { ...fields, config }
  for (const key of keysOf(path, value)) value = (value as Record<string, unknown> | undefined)?.[key]
  return JSON.stringify(value) ?? 'none'
}

/** Keys of a config may have dots in them, so they are found rather than split. */
function keysOf(path: string, root: unknown): string[] {
  if (path === '') return []
  const keys = Object.keys(root ?? {}).filter((key) => path === key || path.startsWith(`${key}.`))
  for (const key of keys) {
    const below = (root as Record<string, unknown>)[key]
    if (path === key) return [key]
    const rest = keysOf(path.slice(key.length + 1), below)
    if (rest.length > 0) return [key, ...rest]
  }
  return []
}

function placeOf({ file, line }: Origin): string {
  return line === 0 ? file : `${file}:${line}`
}
