// A composition file that is YAML text.
import type { Document, LineCounter } from 'yaml'
import { LoaderError } from './errors.ts'
import { Source, type Field } from './source.ts'
import { yaml } from './yaml.ts'

export class YamlSource extends Source {
  private readonly document: Document
  private readonly lines: LineCounter

  constructor(file: string, text: string) {
    super(file)
    const { LineCounter, parseDocument } = yaml()
    this.lines = new LineCounter()
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

  get root(): unknown {
    return this.document.contents
  }

  /** One node stands in several places: the file has an alias. */
  get sharesNodes(): boolean {
    let shares = false
    yaml().visit(this.document, { Alias: () => void (shares = true) })
    return shares
  }

  itemsOf(node: unknown): readonly unknown[] | undefined {
    const target = this.resolve(node)
    return yaml().isSeq(target) ? target.items : undefined
  }

  fieldsOf(node: unknown): readonly Field[] | undefined {
    const target = this.resolve(node)
    const { isMap, isScalar } = yaml()
    if (!isMap(target)) return undefined
    return target.items.map((pair) => ({
      key: isScalar(pair.key) ? String(pair.key.value) : String(pair.key),
      keyNode: pair.key,
      value: pair.value,
    }))
  }

  data(node: unknown): unknown {
    if (node === null || node === undefined) return null
    return (node as { toJS(document: Document): unknown }).toJS(this.document)
  }

  protected placeOf(node: unknown): { line: number; column: number } {
    const range = (node as { range?: readonly number[] | null } | null | undefined)?.range
    const { line, col } = this.lines.linePos(range?.[0] ?? 0)
    return { line: Math.max(line, 1), column: Math.max(col, 1) }
  }

  private resolve(node: unknown): unknown {
    return yaml().isAlias(node) ? node.resolve(this.document) : node
  }
}

function syntaxMessage(problem: { code: string; message: string }): string {
  if (problem.code === 'TAG_RESOLVE_FAILED') {
    return `${problem.message}; compositions hold data only, use \${env.NAME}, \${cwd} or \${home} in strings`
  }
  if (problem.code === 'MULTIPLE_DOCS') return 'a composition is one YAML document; this file holds several'
  return problem.message
}
