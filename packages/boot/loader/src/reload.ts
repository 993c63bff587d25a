// Brings a running host to a changed composition or to changed modules, row by row. What is new is composed and imported before anything
// that runs is touched, and a row that does not start is put back as it was.
import { isDeepStrictEqual } from 'node:util'
import { errorCode, errorMessage } from '@deepseek-ai/cordis'
import { LoaderError, type LoaderErrorCode } from './errors.ts'
import { Mount } from './mount.ts'
import type { FoundModule } from './modules.ts'
import type { FoundPlugin } from './plugin.ts'
import type { ComposedRow, Composition, ReloadReport, RowChange, RowReport } from './types.ts'

/** What a reload needs of the loader. */
export interface RunningRows {
  compose(): Composition
  /** By id, in the order of the composition. */
  mounts(): ReadonlyMap<string, Mount>
  filesOf(mount: Mount): readonly string[]
  load(row: ComposedRow, version: number): Promise<{ found: FoundModule; plugin: FoundPlugin }>
  /** Starts a row where it belongs, or does nothing where its group does not run. */
  mount(mount: Mount): void
  unmount(mount: Mount): Promise<void>
  /** Resolves when nothing starts any more. */
  settle(): Promise<void>
  adopt(next: Composition, mounts: Map<string, Mount>): void
  report(mount: Mount): RowReport
}

/** A row that a reload takes up. */
interface Step {
  readonly row: ComposedRow
  readonly old: Mount | undefined
  /** Whether the old one ran, and has to run on when the new one does not. */
  readonly ran: boolean
  readonly because: readonly string[]
  /** Whether its module has to be brought in. */
  readonly stale: boolean
  next: Mount
  problem?: unknown
}

// Of this process, since its modules are.
let versions = 0

export class Reloads {
  private readonly running: RunningRows
  private queue: Promise<unknown> = Promise.resolve()

  constructor(running: RunningRows) {
    this.running = running
  }

  /** One after the other, in the order of the calls; `begin` is called when it is the turn of this one. Does not reject. */
  run(changed: readonly string[], begin: () => void): Promise<ReloadReport> {
    const report = this.queue.then(() => {
      begin()
      return this.reload(changed)
    })
    this.queue = report
    return report
  }

  private async reload(files: readonly string[]): Promise<ReloadReport> {
    const began = performance.now()
    const done = (rest: Pick<ReloadReport, 'rows' | 'error'>): ReloadReport => {
      return { files, ...rest, ms: Math.round((performance.now() - began) * 10) / 10 }
    }
    try {
      return done({ rows: await this.apply(this.running.compose(), new Set(files)) })
    } catch (error) {
      return done({ rows: [], error: errorMessage(error) })
    }
  }

  private async apply(composition: Composition, changed: ReadonlySet<string>): Promise<RowChange[]> {
    const before = this.running.mounts()
    const { mounts, steps } = this.plan(composition, before, changed)
    const removed = [...before.values()].filter(({ row }) => !mounts.has(row.id))
    await this.load(steps)
    const going: Step[] = []
    for (const step of steps) {
      if (step.problem === undefined || !step.ran) going.push(step)
      else if (step.old!.group === step.next.group) mounts.set(step.row.id, keep(step))
      // Its group starts anew: it goes with it, and comes again as the version that could be loaded.
      else if (take(step.next, step.old)) going.push(step)
    }
    for (const mount of [...removed, ...going.flatMap(({ old }) => old ?? [])].toReversed()) {
      await this.running.unmount(mount)
    }
    this.running.adopt(composition, mounts)
    // The rows of a group that starts now are mounted by its start.
    for (const { next } of going) if (next.fiber === undefined) this.running.mount(next)
    if (going.length > 0) await this.running.settle()
    for (const step of going) if (step.problem === undefined) await this.judge(step, mounts)
    return [
      ...steps.map(told),
      ...removed.map(({ row }): RowChange => ({ ...nameOf(row), kind: 'removed', because: ['the composition'] })),
    ]
  }

  private plan(
    composition: Composition,
    before: ReadonlyMap<string, Mount>,
    changed: ReadonlySet<string>,
  ): { mounts: Map<string, Mount>; steps: Step[] } {
    const mounts = new Map<string, Mount>()
    const steps: Step[] = []
    const visit = (rows: readonly ComposedRow[], group: Mount | undefined): void => {
      for (const row of rows) {
        const old = before.get(row.id)
        const files = old === undefined ? [] : this.running.filesOf(old).filter((file) => changed.has(file))
        const because = [...files, ...differences(row, group, old)]
        if (old !== undefined && because.length === 0) old.row = row
        const next = old !== undefined && because.length === 0 ? old : new Mount(row, group)
        if (next !== old) {
          const stale = old?.plugin === undefined || old.row.name !== row.name || files.length > 0
          steps.push({ row, old, ran: old?.state === 'active', because, stale, next })
        }
        mounts.set(row.id, next)
        visit(row.rows ?? [], next)
      }
    }
    visit(composition.rows, undefined)
    return { mounts, steps }
  }

  /** Brings in the modules that are new or different; those of one reload share what they have in common. */
  private async load(steps: readonly Step[]): Promise<void> {
    const version = ++versions
    const loading = steps.map(async (step) => {
      const { row, old, next, stale } = step
      if (row.name === undefined || row.disabled) return
      try {
        take(next, stale ? await this.running.load(row, version) : old)
      } catch (error) {
        step.problem = error
        next.found = old?.found
        next.fail(error)
      }
    })
    await Promise.all(loading)
  }

  /** Looks whether a row started. One that ran before and does not any more is put back. */
  private async judge(step: Step, mounts: Map<string, Mount>): Promise<void> {
    const { row, old, next, ran } = step
    const unchanged = old !== undefined && old.row.rows === undefined && !ran && next.state === 'waiting'
    if (row.disabled || next.state === 'active' || unchanged) return
    const { error = 'it does not start', code } = this.running.report(next)
    step.problem = new LoaderError(error, (code ?? 'ROW_FAILED') as LoaderErrorCode)
    const placeless = next.group !== undefined && next.group.inner === undefined
    // A group holds others that have been put into it by now: there is no way back for it.
    if (old === undefined || !ran || row.rows !== undefined || placeless) return
    await this.running.unmount(next)
    const again = new Mount(old.row, next.group)
    take(again, old)
    again.refused = row
    step.next = again
    mounts.set(row.id, again)
    this.running.mount(again)
    // What waits for it starts with it, before it is judged itself.
    await this.running.settle()
  }
}

/** What of a row asks for a new start. */
const FIELDS = ['name', 'config', 'disabled', 'inject', 'isolate'] as const

function differences(row: ComposedRow, group: Mount | undefined, old: Mount | undefined): string[] {
  if (old === undefined) return ['the composition']
  const moved = old.group !== group || (old.row.rows === undefined) !== (row.rows === undefined) ? ['its group'] : []
  // A name that led nowhere leads somewhere once it is installed, which no file of the row tells.
  const retry = old.found === undefined && old.state === 'failed' && row.name !== undefined ? ['its module'] : []
  const { refused } = old
  const tried = refused !== undefined && FIELDS.every((field) => isDeepStrictEqual(refused[field], row[field]))
  const fields = tried ? [] : FIELDS.filter((field) => !isDeepStrictEqual(old.row[field], row[field]))
  return [...fields, ...moved, ...retry]
}

function told({ row, old, next, because, problem }: Step): RowChange {
  const name = nameOf(row)
  if (problem === undefined) return { ...name, kind: old === undefined ? 'added' : 'reloaded', because }
  const code = errorCode(problem)
  const failed = { error: errorMessage(problem), ...(code === undefined ? {} : { code }) }
  return { ...name, kind: next.state === 'active' ? 'kept' : 'failed', because, ...failed }
}

function nameOf({ id, name }: ComposedRow): { row: string; module?: string } {
  return { row: id, ...(name === undefined ? {} : { module: name }) }
}

/** The module was refused: what runs goes on, and what is refused once is not tried again as it is. */
function keep(step: Step): Mount {
  const old = step.old!
  old.refused = step.row
  step.next = old
  return old
}

function take(mount: Mount, from: Partial<Pick<Mount, 'found' | 'plugin'>> | undefined): Mount {
  mount.found = from?.found
  mount.plugin = from?.plugin
  mount.recover()
  return mount
}
