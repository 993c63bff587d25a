// One composition file as located YAML: what a node is, where it stands, and errors that say both. Knows nothing of rows.
import { readFileSync } from 'node:fs'
import { errorMessage } from '@deepseek-ai/cordis'
import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument, type Document } from 'yaml'
import { LoaderError, type LoaderErrorCode } from './errors.ts'
import type { Origin } from './types.ts'

/** One `key: value` of a mapping, with the place of the key and of the value. */
export interface Field {
  readonly key: string
  readonly keyNode: unknown
  readonly value: unknown
}

export class Source {
  readonly file: string
  private readonly document: Document
  private readonly lines = new LineCounter()

  constructor(file: string, text: string) {
    this.file = file
    this.document = parseDocument(text, {
      lineCounter: this.lines,
      prettyErrors: false,
      stringKeys: true,
      schema: 'core',
      merge: false,
    })
    // A tag that is not part of plain YAML is only a warning to the parser; here it is refused, whatever it would do.
    const problem = this.document.errors[0] ?? this.document.warnings[0]
    if (problem !== undefined) {
      const { line, col } = this.lines.linePos(problem.pos[0])
      throw new LoaderError(`${file}:${line}:${col}: ${syntaxMessage(problem)}`, 'COMPOSITION_SYNTAX')
    }
  }

  /** The entries of the top-level list. An empty file is an error: `[]` says "nothing" on purpose. */
  entries(): unknown[] {
    const root = this.document.contents
    if (root === null || (isScalar(root) && root.value === null)) {
      throw this.invalid(root, 'the file is empty; wanted a list of rows, or [] for none')
    }
    return this.list(root, 'the document', 'a list of rows')
  }

  /** The items of a sequence. */
  list(node: unknown, what: string, wanted = 'a list'): unknown[] {
    const target = this.resolve(node)
    if (!isSeq(target)) throw this.mismatch(node, what, wanted)
    return target.items
  }

  /** The fields of a mapping, in order. */
  fields(node: unknown, what: string): Field[] {
    const target = this.resolve(node)
    if (!isMap(target)) throw this.mismatch(node, what, 'a mapping')
    return target.items.map((pair) => ({
      key: isScalar(pair.key) ? String(pair.key.value) : String(pair.key),
      keyNode: pair.key,
      value: pair.value,
    }))
  }

  /** Any node as plain data. */
  data(node: unknown): unknown {
    if (node === null || node === undefined) return null
    return (node as { toJS(document: Document): unknown }).toJS(this.document)
  }

  isMapping(node: unknown): boolean {
    return isMap(this.resolve(node))
  }

  at(node: unknown): Origin {
    const range = (node as { range?: readonly number[] | null } | null | undefined)?.range
    const { line, col } = this.lines.linePos(range?.[0] ?? 0)
    return { file: this.file, line: Math.max(line, 1), column: Math.max(col, 1) }
  }

  invalid(node: unknown, message: string, code: LoaderErrorCode = 'COMPOSITION_INVALID'): LoaderError {
    return new LoaderError(`${place(this.at(node))}: ${message}`, code)
  }

  mismatch(node: unknown, what: string, wanted: string): LoaderError {
    return this.invalid(node, `${what} must be ${wanted}, got ${describe(this.data(node))}`)
  }

  private resolve(node: unknown): unknown {
    return isAlias(node) ? node.resolve(this.document) : node
  }
}

/** Reads and parses a composition file. */
export function readSource(file: string): Source {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw new LoaderError(`cannot read the composition ${file}: ${errorMessage(error)}`, 'COMPOSITION_UNREADABLE', {
      cause: error,
    })
  }
  return new Source(file, text)
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

function syntaxMessage(problem: { code: string; message: string }): string {
  if (problem.code === 'TAG_RESOLVE_FAILED') {
    return `${problem.message}; compositions hold data only, use \${env.NAME}, \${cwd} or \${home} in strings`
  }
  if (problem.code === 'MULTIPLE_DOCS') return 'a composition is one YAML document; this file holds several'
  return problem.message
}
