// Applies entries to a tree of rows: inserts, overrides, merges, removals. Text stays as written; `${…}` is filled in later.
import { LoaderError } from './errors.ts'
import { suggestion } from './nearest.ts'
import { describe, place } from './source.ts'
import type { Entry, RowEntry, RowFields } from './entry.ts'
import type { Origin, When } from './types.ts'

/** A row while patches are applied. */
export interface DraftRow {
  readonly id: string
  readonly name?: string
  rows?: DraftRow[]
  config?: unknown
  disabled: boolean
  required: boolean
  inject: Record<string, unknown>
  isolate: Record<string, true | string>
  when?: When
  readonly origin: Origin
  readonly changedBy: string[]
  /** Field by path, and the entry that set it last. */
  readonly setBy: Map<string, Origin>
}

export class RowTree {
  readonly rows: DraftRow[] = []
  private readonly index = new Map<string, { row: DraftRow; list: DraftRow[] }>()

  /** Applies the entries of one file. Rows that it brings in are required by default when `required` says so. */
  apply(entries: readonly Entry[], required: boolean): void {
    const before = new Set(this.index.keys())
    for (const entry of entries) {
      if (entry.kind === 'insert') {
        const list = entry.into === undefined ? this.rows : this.groupOf(entry.into, entry.origin)
        for (const row of entry.rows) this.add(row, list, required)
      } else if (entry.kind === 'remove') {
        const { row, list } = this.find(entry.id, entry.origin)
        checkName(row, entry.name, entry.origin)
        this.remove(row, list)
      } else if (entry.kind === 'include') {
        throw new LoaderError(`${place(entry.origin)}: "include" works in files only`, 'COMPOSITION_INVALID')
      } else if (entry.kind === 'override') {
        this.override(this.find(entry.id, entry.origin).row, entry.fields, entry.origin, required)
      } else if (before.has(entry.id) && this.index.has(entry.id)) {
        const { row } = this.index.get(entry.id)!
        if ((row.rows !== undefined) !== (entry.fields.group === true)) throw kindMismatch(row, entry)
        checkName(row, entry.fields.name, entry.origin)
        this.override(row, entry.fields, entry.origin, required)
      } else {
        this.add(entry, this.rows, required)
      }
    }
  }

  private add(entry: RowEntry, list: DraftRow[], required: boolean): void {
    const { id, fields, origin } = entry
    const known = this.index.get(id)
    if (known !== undefined) {
      throw new LoaderError(
        `${place(origin)}: row id "${id}" is taken by ${place(known.row.origin)}; give one of them another "id"`,
        'COMPOSITION_INVALID',
      )
    }
    if (fields.merge !== undefined) {
      throw new LoaderError(
        `${place(origin)}: row "${id}": "config+" merges into an existing row, and there is none with this id; use "config"`,
        'COMPOSITION_INVALID',
      )
    }
    const row: DraftRow = {
      id,
      disabled: fields.disabled ?? false,
      required: fields.required ?? required,
      inject: fields.inject ?? {},
      isolate: fields.isolate ?? {},
      origin,
      changedBy: [],
      setBy: new Map(),
      ...(fields.name === undefined ? {} : { name: fields.name }),
      ...(fields.when === undefined ? {} : { when: fields.when }),
      ...(fields.config === undefined ? {} : { config: fields.config }),
    }
    noteFields(row, fields, origin)
    list.push(row)
    this.index.set(id, { row, list })
    if (fields.group !== true) return
    const children: DraftRow[] = []
    row.rows = children
    for (const child of fields.rows ?? []) this.add(child, children, required)
  }

  private override(row: DraftRow, fields: RowFields, origin: Origin, required: boolean): void {
    if (fields.group === true && row.rows === undefined) {
      throw new LoaderError(`${place(origin)}: row "${row.id}" is not a group`, 'COMPOSITION_INVALID')
    }
    if (row.rows === undefined) overrideConfig(row, fields, origin)
    else this.overrideGroup(row, row.rows, fields, origin, required)
    if (fields.disabled !== undefined) row.disabled = fields.disabled
    if (fields.required !== undefined) row.required = fields.required
    if (fields.inject !== undefined) row.inject = fields.inject
    if (fields.isolate !== undefined) row.isolate = fields.isolate
    if (fields.when !== undefined) row.when = fields.when
    noteFields(row, fields, origin)
    if (origin.file !== row.origin.file && !row.changedBy.includes(origin.file)) row.changedBy.push(origin.file)
  }

  private overrideGroup(row: DraftRow, list: DraftRow[], fields: RowFields, origin: Origin, required: boolean): void {
    if (fields.merge !== undefined) {
      throw new LoaderError(
        `${place(origin)}: row "${row.id}" is a group; use {id: ${row.id}, insert: [...]} to add rows to it`,
        'COMPOSITION_INVALID',
      )
    }
    const replacement = fields.rows ?? fields.configAsRows?.()
    if (replacement === undefined) return
    while (list[0] !== undefined) this.remove(list[0], list)
    for (const child of replacement) this.add(child, list, required)
  }

  private remove(row: DraftRow, list: DraftRow[]): void {
    while (row.rows?.[0] !== undefined) this.remove(row.rows[0], row.rows)
    list.splice(list.indexOf(row), 1)
    this.index.delete(row.id)
  }

  private find(id: string, origin: Origin): { row: DraftRow; list: DraftRow[] } {
    const found = this.index.get(id)
    if (found !== undefined) return found
    throw new LoaderError(
      `${place(origin)}: no row has the id "${id}"${suggestion(id, this.index.keys())}`,
      'COMPOSITION_UNKNOWN_ROW',
    )
  }

  private groupOf(id: string, origin: Origin): DraftRow[] {
    const { row } = this.find(id, origin)
    if (row.rows !== undefined) return row.rows
    throw new LoaderError(
      `${place(origin)}: cannot insert into "${id}": it is the plugin ${row.name}, not a group`,
      'COMPOSITION_INVALID',
    )
  }
}

const PLAIN_FIELDS = ['name', 'disabled', 'required', 'inject', 'isolate', 'when'] as const

function noteFields({ setBy }: DraftRow, fields: RowFields, origin: Origin): void {
  for (const field of PLAIN_FIELDS) if (fields[field] !== undefined) setBy.set(field, origin)
  if ('config' in fields) {
    for (const path of setBy.keys()) if (path === 'config' || path.startsWith('config.')) setBy.delete(path)
    noteValue(setBy, 'config', fields.config, origin)
  } else if (fields.merge !== undefined) {
    for (const [key, value] of Object.entries(fields.merge)) noteValue(setBy, `config.${key}`, value, origin)
  }
}

/** Mappings leaf by leaf, as they merge. */
function noteValue(setBy: Map<string, Origin>, path: string, value: unknown, origin: Origin): void {
  if (isRecord(value) && Object.keys(value).length > 0) {
    setBy.delete(path)
    for (const [key, each] of Object.entries(value)) noteValue(setBy, `${path}.${key}`, each, origin)
    return
  }
  const below = [...setBy.keys()].filter((each) => each.startsWith(`${path}.`))
  // An empty mapping that merges into a mapping changes nothing.
  if (isRecord(value) && below.length > 0) return
  for (const each of below) setBy.delete(each)
  if (value !== undefined) setBy.set(path, origin)
}

function overrideConfig(row: DraftRow, fields: RowFields, origin: Origin): void {
  if (fields.merge !== undefined) {
    if (row.config !== undefined && !isRecord(row.config)) {
      throw new LoaderError(
        `${place(origin)}: cannot merge into the config of "${row.id}": it is ${describe(row.config)}, not a mapping`,
        'COMPOSITION_INVALID',
      )
    }
    row.config = mergeDeep(row.config ?? {}, fields.merge)
  } else if ('config' in fields) {
    if (fields.config === undefined) delete row.config
    else row.config = fields.config
  }
}

/** Mappings merge key by key; anything else, lists included, is replaced. Neither input is changed. */
export function mergeDeep(
  base: Readonly<Record<string, unknown>>,
  over: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const merged = new Map(Object.entries(base))
  for (const [key, value] of Object.entries(over)) {
    const before = merged.get(key)
    merged.set(key, isRecord(before) && isRecord(value) ? mergeDeep(before, value) : value)
  }
  return Object.fromEntries(merged) // defines own properties, so that a key named __proto__ is only a key
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function checkName(row: DraftRow, name: string | undefined, origin: Origin): void {
  if (name === undefined || name === row.name) return
  throw new LoaderError(
    `${place(origin)}: row "${row.id}" is ${row.name ?? 'a group'} (${place(row.origin)}), not ${name}; ` +
      'give the new row another "id", or leave "name" out to change the existing one',
    'COMPOSITION_INVALID',
  )
}

function kindMismatch(row: DraftRow, entry: RowEntry): LoaderError {
  const is = row.rows === undefined ? `the plugin ${row.name}` : 'a group'
  return new LoaderError(
    `${place(entry.origin)}: row "${row.id}" is ${is} (${place(row.origin)}); give the new row another "id"`,
    'COMPOSITION_INVALID',
  )
}
