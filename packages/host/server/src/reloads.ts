// What pages are told of reloads: what became of the rows, and how what models are told differs from before.
import { isDeepStrictEqual } from 'node:util'
import type { ToolSchema } from '@deepseek-ai/dsh-tools'
import type { ReloadNotice, ToolChange } from './protocol.ts'

/** The part of the loader's report that matters here; this package does not depend on the loader. */
export interface ReloadReport {
  readonly rows: readonly (ReloadNotice['rows'][number] & { readonly module?: string })[]
  readonly error?: string
}

export interface ReloadSources {
  /** What models are told of tools, in that order. */
  schemas(): readonly ToolSchema[]
  /** The schema of a tool's value; undefined for a tool that there is not. */
  output(name: string): unknown
  /** The beginning of what sessions send, but for the tools. */
  prompt(): string
}

interface Told {
  readonly schemas: readonly ToolSchema[]
  readonly outputs: ReadonlyMap<string, unknown>
  readonly prompt: string
}

const KEPT = 8
const LONGEST = 20_000

export class Reloads {
  private readonly sources: ReloadSources
  private notices: readonly ReloadNotice[] = []
  private before: Told | undefined
  private ids = 0

  constructor(sources: ReloadSources) {
    this.sources = sources
  }

  /** Newest first. */
  list(): readonly ReloadNotice[] {
    return this.notices
  }

  begin(): void {
    this.before = this.told()
  }

  /** False when nothing happened that a person would want to know. */
  end({ rows, error }: ReloadReport): boolean {
    const before = this.before ?? this.told()
    this.before = undefined
    if (rows.length === 0 && error === undefined) return false
    const after = this.told()
    const notice: ReloadNotice = {
      id: ++this.ids,
      time: Date.now(),
      rows: rows.map(({ row, kind, because, error: why }) => ({
        row,
        kind,
        because,
        ...(why === undefined ? {} : { error: why }),
      })),
      ...(error === undefined ? {} : { error }),
      tools: toolChanges(before, after),
      breaksCache: before.prompt !== after.prompt || !isDeepStrictEqual(before.schemas, after.schemas),
    }
    this.notices = [notice, ...this.notices].slice(0, KEPT)
    return true
  }

  private told(): Told {
    const schemas = this.sources.schemas()
    const outputs = new Map(schemas.map(({ name }) => [name, this.sources.output(name)]))
    return { schemas, outputs, prompt: this.sources.prompt() }
  }
}

function toolChanges(before: Told, after: Told): ToolChange[] {
  const old = new Map(before.schemas.map((schema) => [schema.name, schema]))
  const names = new Set([...old.keys(), ...after.schemas.map(({ name }) => name)])
  const current = new Map(after.schemas.map((schema) => [schema.name, schema]))
  return [...names].flatMap((name): ToolChange[] => {
    const [one, other] = [old.get(name), current.get(name)]
    if (one === undefined || other === undefined) {
      return [{ name, kind: one === undefined ? 'added' : 'removed', fields: [] }]
    }
    const fields = [
      field('description', one.description, other.description),
      field('parameters', one.parameters, other.parameters),
      field('output', before.outputs.get(name), after.outputs.get(name)),
    ].flatMap((each) => each ?? [])
    return fields.length === 0 ? [] : [{ name, kind: 'changed', fields }]
  })
}

function field(name: ToolChange['fields'][number]['field'], before: unknown, after: unknown) {
  const [one, other] = [textOf(before), textOf(after)]
  return one === other ? undefined : { field: name, before: cut(one), after: cut(other) }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '')
}

function cut(text: string): string {
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}\n… ${text.length - LONGEST} more characters`
}
