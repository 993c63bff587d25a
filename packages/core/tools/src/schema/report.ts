// Collects the violations of one value with their paths, in the vocabulary that models and logs read.
import { count, describeValue } from './describe.ts'

/** More than this tells nobody anything, and a long list with one mistake in each item would fill a model's context. */
const MAX_VIOLATIONS = 32

/** Reports of one value share the list; each knows the path of the node it stands for. */
export class Report {
  private readonly path: string
  private readonly list: ViolationList

  constructor(path: string, list: ViolationList = { lines: [], omitted: 0 }) {
    this.path = path
    this.list = list
  }

  get isEmpty(): boolean {
    return this.list.lines.length === 0
  }

  get size(): number {
    return this.list.lines.length + this.list.omitted
  }

  at(segment: string | number): Report {
    return new Report(this.pathTo(segment), this.list)
  }

  /** A report further down, by a whole path such as `rows[3].when`; '' stays here. */
  atPath(path: string): Report {
    const joint = this.path === '' || path === '' || path.startsWith('[') ? '' : '.'
    return new Report(this.path + joint + path, this.list)
  }

  /** A report of the same place whose violations count for nothing until someone reads them. */
  aside(): Report {
    return new Report(this.path)
  }

  /** `"<path>" <problem>`. Always false, so that a check can return it. */
  add(problem: string): false {
    return this.line(`"${this.path === '' ? 'arguments' : this.path}" ${problem}`)
  }

  /** `"<path>" must be <wanted> (got …)`. */
  mismatch(wanted: string, value: unknown): false {
    return this.add(`must be ${wanted} (got ${describeValue(value)})`)
  }

  missing(key: string): false {
    return this.line(`missing required property "${this.pathTo(key)}"`)
  }

  lines(): string[] {
    const { lines, omitted } = this.list
    return omitted === 0 ? [...lines] : [...lines, `and ${count(omitted, 'more violation')}`]
  }

  private pathTo(segment: string | number): string {
    if (typeof segment === 'number') return `${this.path}[${segment}]`
    return this.path === '' ? segment : `${this.path}.${segment}`
  }

  private line(text: string): false {
    if (this.list.lines.length < MAX_VIOLATIONS) this.list.lines.push(text)
    else this.list.omitted++
    return false
  }
}

interface ViolationList {
  lines: string[]
  omitted: number
}
