// One composition file as located data: what a node is, where it stands, and errors that say both. Knows nothing of rows, nor of
// where the nodes come from.
import { LoaderError, type LoaderErrorCode } from './errors.ts'
import type { Origin } from './types.ts'

/** One `key: value` of a mapping, with the place of the key and of the value. */
export interface Field {
  readonly key: string
  readonly keyNode: unknown
  readonly value: unknown
}

export abstract class Source {
  readonly file: string
  /** The top-level node; null for an empty file. */
  abstract readonly root: unknown

  constructor(file: string) {
    this.file = file
  }

  /** The items of a sequence; undefined for anything else. */
  abstract itemsOf(node: unknown): readonly unknown[] | undefined
  /** The fields of a mapping, in order; undefined for anything else. */
  abstract fieldsOf(node: unknown): readonly Field[] | undefined
  /** Any node as plain data. */
  abstract data(node: unknown): unknown
  /** Line and column, from 1. */
  protected abstract placeOf(node: unknown): { readonly line: number; readonly column: number }

  /** The entries of the top-level list. An empty file is an error: `[]` says "nothing" on purpose. */
  entries(): readonly unknown[] {
    const { root } = this
    if (this.itemsOf(root) === undefined && this.data(root) === null) {
      throw this.invalid(root, 'the file is empty; wanted a list of rows, or [] for none')
    }
    return this.list(root, 'the document', 'a list of rows')
  }

  /** The items of what must be a sequence. */
  list(node: unknown, what: string, wanted = 'a list'): readonly unknown[] {
    const items = this.itemsOf(node)
    if (items === undefined) throw this.mismatch(node, what, wanted)
    return items
  }

  /** The fields of what must be a mapping, in order. */
  fields(node: unknown, what: string): readonly Field[] {
    const fields = this.fieldsOf(node)
    if (fields === undefined) throw this.mismatch(node, what, 'a mapping')
    return fields
  }

  isMapping(node: unknown): boolean {
    return this.fieldsOf(node) !== undefined
  }

  at(node: unknown): Origin {
    return { file: this.file, ...this.placeOf(node) }
  }

  invalid(node: unknown, message: string, code: LoaderErrorCode = 'COMPOSITION_INVALID'): LoaderError {
    return new LoaderError(`${place(this.at(node))}: ${message}`, code)
  }

  mismatch(node: unknown, what: string, wanted: string): LoaderError {
    return this.invalid(node, `${what} must be ${wanted}, got ${describe(this.data(node))}`)
  }
}

/** `file:line:column`; what stands in no file has no line. */
export function place(origin: Origin): string {
  if (origin.line === 0) return origin.file
  return `${origin.file}:${origin.line}:${origin.column}`
}

/** A value as a short phrase for an error. */
export function describe(value: unknown): string {
  if (value === null || value === undefined) return 'nothing'
  if (Array.isArray(value)) return `a list of ${value.length}`
  if (typeof value === 'object') return `a mapping with ${Object.keys(value).slice(0, 5).join(', ') || 'no fields'}`
  const text = JSON.stringify(value)
  return `the ${typeof value} ${text.length > 60 ? `${text.slice(0, 57)}…` : text}`
}
