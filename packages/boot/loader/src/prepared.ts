// Composition files that were parsed when a package was built. What is stored of a file counts as long as the file has the very
// text that it was made from, so it is never stale: any other text is parsed.
import { readFileSync } from 'node:fs'
import { errorMessage } from '@deepseek-ai/cordis'
import { LoaderError } from './errors.ts'
import { Source, type Field } from './source.ts'
import { YamlSource } from './yaml-source.ts'

type Place = readonly [line: number, column: number]

/** A node of a file, as JSON. */
type StoredNode =
  | { readonly at: Place; readonly value: string | number | boolean | null }
  | { readonly at: Place; readonly items: readonly (StoredNode | null)[] }
  | { readonly at: Place; readonly fields: readonly (readonly [key: StoredNode, value: StoredNode | null])[] }

interface StoredFile {
  readonly text: string
  readonly root: StoredNode
}

/** Stored files by their text. */
export type PreparedFiles = ReadonlyMap<string, StoredNode>

const FORMAT = 1
const NONE: PreparedFiles = new Map()

/**
 * Parses files ahead of time: the JSON text to write where `ComposeOptions.prepared` will find it. Throws a `LoaderError` for a
 * file that cannot be read or is no YAML. A file that JSON cannot hold (with an alias, or a number like `.nan`) is left out.
 */
export function prepareFiles(files: readonly string[]): string {
  const stored: StoredFile[] = []
  for (const file of files) {
    const text = readText(file)
    const source = new YamlSource(file, text)
    const root = source.sharesNodes ? undefined : store(source, source.root)
    if (root !== undefined && root !== null) stored.push({ text, root })
  }
  return JSON.stringify({ format: FORMAT, files: stored })
}

/** What was stored; nothing when there is no such file or it is damaged, since everything can be parsed again. */
export function readPrepared(path: string | undefined): PreparedFiles {
  if (path === undefined) return NONE
  try {
    const { format, files } = JSON.parse(readFileSync(path, 'utf8')) as { format: unknown; files: StoredFile[] }
    return format === FORMAT ? new Map(files.map(({ text, root }) => [text, root])) : NONE
  } catch {
    return NONE
  }
}

/** Reads a composition file, and parses it unless that was done before. */
export function readSource(file: string, prepared: PreparedFiles = NONE): Source {
  const text = readText(file)
  const root = prepared.get(text)
  return root === undefined ? new YamlSource(file, text) : new StoredSource(file, root)
}

class StoredSource extends Source {
  readonly root: StoredNode

  constructor(file: string, root: StoredNode) {
    super(file)
    this.root = root
  }

  itemsOf(node: unknown): readonly unknown[] | undefined {
    const stored = node as StoredNode | null
    return stored !== null && 'items' in stored ? stored.items : undefined
  }

  fieldsOf(node: unknown): readonly Field[] | undefined {
    const stored = node as StoredNode | null
    if (stored === null || !('fields' in stored)) return undefined
    return stored.fields.map(([keyNode, value]) => ({ key: keyOf(keyNode), keyNode, value }))
  }

  data(node: unknown): unknown {
    const stored = node as StoredNode | null
    if (stored === null) return null
    if ('items' in stored) return stored.items.map((item) => this.data(item))
    if ('fields' in stored) {
      return Object.fromEntries(stored.fields.map(([key, value]) => [keyOf(key), this.data(value)]))
    }
    return stored.value
  }

  protected placeOf(node: unknown): { line: number; column: number } {
    const [line, column] = (node as StoredNode | null)?.at ?? [1, 1]
    return { line, column }
  }
}

function keyOf(key: StoredNode): string {
  return 'value' in key ? String(key.value) : ''
}

/** Undefined for what JSON cannot hold. */
function store(source: Source, node: unknown): StoredNode | null | undefined {
  if (node === null || node === undefined) return null
  const { line, column } = source.at(node)
  const at: Place = [line, column]
  const fields = source.fieldsOf(node)
  if (fields !== undefined) {
    const stored: (readonly [StoredNode, StoredNode | null])[] = []
    for (const { keyNode, value } of fields) {
      const key = store(source, keyNode)
      const held = store(source, value)
      if (key === undefined || key === null || !('value' in key) || held === undefined) return undefined
      stored.push([key, held])
    }
    return { at, fields: stored }
  }
  const items = source.itemsOf(node)
  if (items === undefined) return storeScalar(source.data(node), at)
  const stored = items.map((item) => store(source, item))
  return stored.includes(undefined) ? undefined : { at, items: stored as (StoredNode | null)[] }
}

function storeScalar(value: unknown, at: Place): StoredNode | undefined {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return { at, value }
  if (typeof value === 'number' && Number.isFinite(value) && !Object.is(value, -0)) return { at, value }
  return undefined
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new LoaderError(`cannot read the composition ${file}: ${errorMessage(error)}`, 'COMPOSITION_UNREADABLE', {
      cause: error,
    })
  }
}
