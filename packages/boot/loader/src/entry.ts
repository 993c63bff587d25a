// Reads the entries of a composition file: checks every field, derives ids and makes relative module names absolute.
// Does not apply them; see patch.ts.
import { dirname, isAbsolute, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { suggestion } from './nearest.ts'
import { readConditions } from './when.ts'
import type { Field, Source } from './source.ts'
import type { Origin, When } from './types.ts'

/** What an entry says about a row; absent fields say nothing. */
export interface RowFields {
  name?: string
  group?: true
  /** The nested rows of a group. */
  rows?: RowEntry[]
  config?: unknown
  /** The same `config` as the rows of a group, for an override whose target turns out to be one. */
  configAsRows?: () => RowEntry[]
  /** `config+`: merged into what is there. */
  merge?: Record<string, unknown>
  disabled?: boolean
  required?: boolean
  inject?: Record<string, unknown>
  isolate?: Record<string, true | string>
  when?: When
}

export interface RowEntry {
  readonly kind: 'row'
  readonly id: string
  readonly fields: RowFields
  readonly origin: Origin
}

export type Entry =
  | RowEntry
  | { readonly kind: 'override'; readonly id: string; readonly fields: RowFields; readonly origin: Origin }
  | { readonly kind: 'remove'; readonly id: string; readonly name?: string; readonly origin: Origin }
  | { readonly kind: 'insert'; readonly into?: string; readonly rows: RowEntry[]; readonly origin: Origin }
  | IncludeEntry

/** All of another composition, before this file's own entries. */
export interface IncludeEntry {
  readonly kind: 'include'
  /** An absolute path, or the name of a preset. */
  readonly target: { readonly file: string } | { readonly preset: string }
  readonly origin: Origin
}

const ROW_FIELDS = ['id', 'name', 'config', 'disabled', 'group', 'inject', 'isolate', 'when', 'required']
const ENTRY_FIELDS = [...ROW_FIELDS, 'config+', 'insert', 'remove', 'include']

/** The entries of a file, in order. */
export function readEntries(source: Source): Entry[] {
  return source.entries().map((node) => readEntry(source, node))
}

function readEntry(source: Source, node: unknown): Entry {
  const fields = source.fields(node, 'an entry')
  rejectUnknown(source, fields, ENTRY_FIELDS)
  const given = new Map(fields.map((field) => [field.key, field]))
  const origin = source.at(node)
  if (given.has('include')) return readInclude(source, given, origin)
  if (given.has('insert')) return readInsert(source, given, origin)
  if (given.has('remove')) return readRemove(source, given, node)
  if (given.has('name') || given.has('group')) return readRow(source, node, given)
  const id = given.get('id')
  if (id === undefined) throw source.invalid(node, 'an entry needs an "id", a "name" or an "insert"')
  return { kind: 'override', id: identifier(source, id), fields: readFields(source, given), origin }
}

function readInclude(source: Source, given: Map<string, Field>, origin: Origin): IncludeEntry {
  const extra = [...given.keys()].find((key) => key !== 'include')
  if (extra !== undefined) {
    throw source.invalid(given.get(extra)!.keyNode, `"${extra}" cannot stand beside "include"; use an entry of its own`)
  }
  const { value } = given.get('include')!
  const target = source.data(value)
  if (typeof target !== 'string' || target.trim() === '') {
    throw source.mismatch(value, '"include"', 'the name of a preset, ./path or an absolute path')
  }
  if (/^\.{1,2}[\\/]/.test(target))
    return { kind: 'include', target: { file: resolve(dirname(source.file), target) }, origin }
  if (isAbsolute(target)) return { kind: 'include', target: { file: resolve(target) }, origin }
  return { kind: 'include', target: { preset: target }, origin }
}

function readInsert(source: Source, given: Map<string, Field>, origin: Origin): Entry {
  const extra = [...given.keys()].find((key) => key !== 'insert' && key !== 'id')
  if (extra !== undefined) {
    throw source.invalid(given.get(extra)!.keyNode, `"${extra}" cannot stand beside "insert"; use an entry of its own`)
  }
  const rows = readRows(source, given.get('insert')!.value, '"insert"')
  const id = given.get('id')
  return { kind: 'insert', rows, origin, ...(id === undefined ? {} : { into: identifier(source, id) }) }
}

function readRemove(source: Source, given: Map<string, Field>, node: unknown): Entry {
  const extra = [...given.keys()].find((key) => !['remove', 'id', 'name'].includes(key))
  if (extra !== undefined) throw source.invalid(given.get(extra)!.keyNode, `"${extra}" cannot stand beside "remove"`)
  const id = given.get('id')
  if (id === undefined) throw source.invalid(node, '"remove" needs the "id" of the row to remove')
  if (!boolean(source, given.get('remove')!)) {
    throw source.invalid(given.get('remove')!.value, '"remove" must be true; leave the entry out to keep the row')
  }
  const name = given.get('name')
  return {
    kind: 'remove',
    id: identifier(source, id),
    origin: source.at(node),
    ...(name === undefined ? {} : { name: moduleName(source, name) }),
  }
}

/** Rows in a place where only rows may stand: inside `insert` and inside a group. */
function readRows(source: Source, node: unknown, what: string): RowEntry[] {
  return source.list(node, what, 'a list of rows').map((item) => {
    const fields = source.fields(item, 'a row')
    rejectUnknown(source, fields, ROW_FIELDS)
    const given = new Map(fields.map((field) => [field.key, field]))
    if (!given.has('name') && !given.has('group')) {
      throw source.invalid(item, 'a new row needs a "name", the module to load, or "group: true"')
    }
    return readRow(source, item, given)
  })
}

function readRow(source: Source, node: unknown, given: Map<string, Field>): RowEntry {
  const fields = readFields(source, given)
  if (fields.group === true && fields.name !== undefined) {
    throw source.invalid(given.get('name')!.keyNode, 'a group has no module: remove "name" or "group"')
  }
  const id = given.get('id')
  if (id !== undefined) return { kind: 'row', id: identifier(source, id), fields, origin: source.at(node) }
  if (fields.name === undefined) throw source.invalid(node, 'a group needs an "id"')
  return { kind: 'row', id: derivedId(fields.name), fields, origin: source.at(node) }
}

function readFields(source: Source, given: Map<string, Field>): RowFields {
  const fields: RowFields = {}
  const group = given.get('group')
  if (group !== undefined && boolean(source, group)) fields.group = true
  for (const field of given.values()) {
    if (field.key === 'name') fields.name = moduleName(source, field)
    else if (field.key === 'disabled') fields.disabled = boolean(source, field)
    else if (field.key === 'required') fields.required = boolean(source, field)
    else if (field.key === 'inject') fields.inject = injection(source, field)
    else if (field.key === 'isolate') fields.isolate = isolation(source, field)
    else if (field.key === 'when') fields.when = readConditions(source, field.value)
    else if (field.key === 'config+') fields.merge = merging(source, field)
    else if (field.key === 'config') {
      if (fields.group === true) fields.rows = readRows(source, field.value, 'the "config" of a group')
      // `config:` with nothing after it means no config, as leaving it out does.
      else {
        fields.config = source.data(field.value) ?? undefined
        fields.configAsRows = () => readRows(source, field.value, 'the "config" of a group')
      }
    }
  }
  if (fields.merge !== undefined && given.has('config')) {
    throw source.invalid(given.get('config+')!.keyNode, '"config" replaces and "config+" merges; use one of them')
  }
  return fields
}

function rejectUnknown(source: Source, fields: readonly Field[], known: readonly string[]): void {
  for (const { key, keyNode } of fields) {
    if (known.includes(key)) continue
    if (ENTRY_FIELDS.includes(key)) {
      throw source.invalid(keyNode, `"${key}" belongs to a patch entry of its own, not into a nested row`)
    }
    throw source.invalid(keyNode, `unknown field "${key}"${suggestion(key, known)}`)
  }
}

function identifier(source: Source, field: Field): string {
  const value = source.data(field.value)
  if (typeof value === 'string' && /^[^\s]+$/.test(value)) return value
  throw source.mismatch(field.value, '"id"', 'a string without blanks')
}

function boolean(source: Source, field: Field): boolean {
  const value = source.data(field.value)
  if (typeof value === 'boolean') return value
  throw source.mismatch(field.value, `"${field.key}"`, 'true or false')
}

function moduleName(source: Source, field: Field): string {
  const value = source.data(field.value)
  if (typeof value !== 'string' || value.trim() === '') {
    throw source.mismatch(field.value, '"name"', 'a package name, ./path, absolute path or file: URL')
  }
  if (value.startsWith('file:')) {
    try {
      return fileURLToPath(value)
    } catch {
      throw source.mismatch(field.value, '"name"', 'a valid file: URL')
    }
  }
  if (/^\.{1,2}([\\/]|$)/.test(value)) return resolve(dirname(source.file), value)
  if (isAbsolute(value)) return resolve(value)
  if (/^[a-z][a-z0-9+.-]+:/i.test(value)) {
    throw source.mismatch(field.value, '"name"', 'a package name, ./path, absolute path or file: URL')
  }
  return value
}

function injection(source: Source, field: Field): Record<string, unknown> {
  const value = source.data(field.value)
  if (Array.isArray(value) && value.every((item) => typeof item === 'string' && item !== '')) {
    return Object.fromEntries(value.map((service) => [service as string, null]))
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    // `tools: true` reads as "needed", and upstream takes any other value as the config it passes to the service.
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, each === true ? null : each]))
  }
  throw source.mismatch(field.value, '"inject"', 'a list of service names or a mapping of them')
}

function isolation(source: Source, field: Field): Record<string, true | string> {
  const result: Record<string, true | string> = {}
  for (const { key, value } of source.fields(field.value, '"isolate"')) {
    const label = source.data(value)
    if (label !== true && (typeof label !== 'string' || label === '')) {
      throw source.mismatch(value, `"isolate.${key}"`, 'true (private) or a label (shared by rows that use it)')
    }
    result[key] = label
  }
  return result
}

function merging(source: Source, field: Field): Record<string, unknown> {
  if (!source.isMapping(field.value)) throw source.mismatch(field.value, '"config+"', 'a mapping to merge')
  return source.data(field.value) as Record<string, unknown>
}

/** The last path segment without its extension: `./src/my-plugin.ts` is `my-plugin`, `@scope/dsh-tools` is `dsh-tools`. */
export function derivedId(name: string): string {
  const segment = name.split(/[\\/]/).findLast((part) => part !== '') ?? name
  return segment.replace(/\.[cm]?[jt]s$/, '')
}
