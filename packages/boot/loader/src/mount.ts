// One row in a running host: its fiber, its state and what is wrong with it.
import { errorCode, errorMessage, FiberState, type Context, type Fiber } from '@deepseek-ai/cordis'
import { LoaderError } from './errors.ts'
import type { FoundModule } from './modules.ts'
import type { FoundPlugin } from './plugin.ts'
import type { ComposedRow, RowReport, RowState } from './types.ts'

export class Mount {
  /** Replaced when the composition is made anew and says the same of it. */
  row: ComposedRow
  /** What the composition says, where that did not start and this, as it was before, runs on. */
  refused: ComposedRow | undefined
  /** The group that it is in. */
  readonly group: Mount | undefined
  /** Of a group that runs: where its rows are mounted. */
  inner: Context | undefined
  /** Where its module is; undefined for a group and for a name that leads nowhere. */
  found: FoundModule | undefined
  /** Undefined while the module is not loaded, or when it could not be. */
  plugin: FoundPlugin | undefined
  fiber: Fiber | undefined
  /** When the row was last seen to begin loading, by `performance.now()`. */
  startedAt = 0
  ms = 0
  private failure: unknown = undefined

  constructor(row: ComposedRow, group?: Mount) {
    this.row = row
    this.group = group
  }

  get state(): RowState {
    if (this.failure !== undefined) return 'failed'
    if (this.row.disabled) return 'disabled'
    const outer = this.group?.state ?? 'active'
    if (outer !== 'active') return outer === 'starting' ? 'starting' : 'waiting'
    if (this.fiber === undefined) return 'starting'
    return STATES[this.fiber.state]
  }

  fail(error: unknown): void {
    // A thrown `undefined` is a failure as well.
    this.failure = error ?? new LoaderError('the plugin threw nothing that can be shown', 'ROW_FAILED')
  }

  recover(): void {
    this.failure = undefined
  }

  /** The services it needs that are not there. */
  missing(): string[] {
    const { fiber } = this
    if (fiber === undefined) return []
    return Object.keys(fiber.inject).filter((service) => fiber.ctx.get(service) === undefined)
  }

  report(provider: (service: string) => string): RowReport {
    const { row, state } = this
    const base = {
      row: row.id,
      ...(row.name === undefined ? {} : { module: row.name }),
      file: row.origin.file,
      line: row.origin.line,
      state,
      required: row.required,
      ms: Math.round(this.ms * 10) / 10,
    }
    if (state === 'failed') return { ...base, ...failureOf(this.failure) }
    if (state !== 'waiting') return base
    const group = this.group?.state ?? 'active'
    if (group !== 'active') {
      return {
        ...base,
        missing: [],
        error: `waits for its group "${this.group!.row.id}", which is ${group}`,
        code: 'ROW_WAITING',
      }
    }
    const missing = this.missing()
    const error = missing.map((service) => `waits for the service "${service}": ${provider(service)}`).join('; ')
    return { ...base, missing, error, code: 'ROW_WAITING' }
  }
}

const STATES: Record<FiberState, RowState> = {
  [FiberState.PENDING]: 'waiting',
  [FiberState.LOADING]: 'starting',
  [FiberState.ACTIVE]: 'active',
  [FiberState.FAILED]: 'failed',
  [FiberState.DISPOSED]: 'disabled',
  [FiberState.UNLOADING]: 'starting',
}

function failureOf(failure: unknown): { error: string; code: string; stack?: string } {
  const loading = failure instanceof LoaderError
  const invalid = failure instanceof Error && failure.name === 'ValidationError'
  const message = withRemedy(errorMessage(failure))
  const source = loading ? failure.cause : failure
  return {
    error: loading || invalid ? message : `failed to start: ${message}`,
    code: errorCode(failure) ?? (invalid ? 'ROW_CONFIG' : 'ROW_FAILED'),
    ...(source instanceof Error && source.stack !== undefined ? { stack: source.stack } : {}),
  }
}

/** Upstream says what is wrong with a plugin that forgot to inject; this says what to write. */
function withRemedy(message: string): string {
  const [, service] = /^cannot get property "(.+)" without inject$/.exec(message) ?? []
  if (service === undefined) return message
  return `${message}; the plugin must say that it uses it: export const inject = ['${service}']`
}

/** The context that a row is mounted in: its parent's, with a realm of its own for each isolated service. */
export function isolated(parent: Context, row: ComposedRow): Context {
  let ctx = parent
  for (const [service, label] of Object.entries(row.isolate)) {
    ctx = label === true ? ctx.isolate(service) : ctx.isolate(service, Symbol.for(`dsh.realm:${service}@${label}`))
  }
  return ctx
}

/** One line for a person: where the row is written, which it is and what is wrong. */
export function problemLine(report: RowReport): string {
  const module = report.module === undefined ? 'group' : report.module
  return `${report.file}:${report.line}: row "${report.row}" (${module}) ${report.state}: ${report.error ?? 'no reason given'}`
}
