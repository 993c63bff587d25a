// `ctx.loader`: mounts the rows of a composition, one fiber each, and knows at any time what became of them. What changes later
// is decided in reload.ts.
import { emitContained, hooksOf, retire, type Context, type Fiber } from '@deepseek-ai/cordis'
import { LoaderError } from './errors.ts'
import { isolated, Mount } from './mount.ts'
import { findModule, importError, importModule, versionedURL, type FoundModule } from './modules.ts'
import { findPlugin, wrapPlugin, type FoundPlugin } from './plugin.ts'
import { describeProvider } from './providers.ts'
import { Reloads } from './reload.ts'
import type { BootOptions, BootReport, ComposedRow, Composition, ReloadReport, RowReport } from './types.ts'
import { userImports } from './user-imports.ts'
import { FileWatch, type WatchOptions } from './watch.ts'

declare module '@deepseek-ai/cordis' {
  interface Context {
    loader: Loader
  }
  interface Events {
    /** A row changed its state, during boot or later. */
    'loader/change'(row: RowReport): void
    /** A reload begins; nothing has been touched yet. */
    'loader/before-reload'(files: readonly string[]): void
    /** A reload is through, whether or not it changed anything. */
    'loader/reload'(report: ReloadReport): void
  }
}

export class Loader {
  private readonly ctx: Context
  private composition: Composition
  private readonly hosts: readonly string[]
  private readonly readyTimeoutMs: number
  private readonly bring: (found: FoundModule, version?: number) => Promise<unknown>
  private readonly reloads: Reloads
  private mounts = new Map<string, Mount>()
  private readonly imports = new Map<string, Promise<void>>()
  private readonly byFiber = new WeakMap<Fiber, Mount>()
  private readonly lastSeen = new WeakMap<Mount, string>()
  private bootMs = 0
  private startedAt = Date.now()

  constructor(composition: Composition, options: BootOptions, hosts: readonly string[]) {
    this.ctx = options.ctx
    this.composition = composition
    this.hosts = hosts
    this.readyTimeoutMs = options.readyTimeoutMs ?? 10_000
    const given = options.importModule
    this.bring =
      given === undefined
        ? (found, version) => importModule(found, hosts, version)
        : (found, version) => given(versionedURL(found, version))
    const { recompose = () => this.composition } = options
    this.reloads = new Reloads({
      compose: recompose,
      mounts: () => this.mounts,
      filesOf: (mount) => this.modulesOf(mount),
      load: (row, version) => this.load(row, version),
      unmount: (mount) => this.unmount(mount),
      mount: (mount) => this.mount(mount),
      settle: () => this.settle(),
      adopt: (next, mounts) => this.adopt(next, mounts),
      report: (mount) => this.rowReport(mount),
    })
    this.list(composition.rows)
  }

  private list(rows: readonly ComposedRow[], group?: Mount): void {
    for (const row of rows) {
      const mount = new Mount(row, group)
      this.mounts.set(row.id, mount)
      this.list(row.rows ?? [], mount)
    }
  }

  /** Every row in the order of the composition, as it is now. */
  rows(): RowReport[] {
    return [...this.mounts.values()].map((mount) => this.rowReport(mount))
  }

  private rowReport(mount: Mount): RowReport {
    return mount.report((service) => describeProvider(service, this.mounts.values(), this.composition.skipped))
  }

  /** The whole report, as it is now: later failures and recoveries count. */
  report(): BootReport {
    const rows = this.rows()
    const problems = rows.filter((row) => row.state === 'failed' || row.state === 'waiting')
    const ok = rows.every((row) => !row.required || row.state === 'active' || row.state === 'disabled')
    return { ok, rows, problems, ms: this.bootMs }
  }

  /** The rows that failed or wait. */
  problems(): RowReport[] {
    return [...this.report().problems]
  }

  /**
   * Composes anew and brings the host to it: rows that are new, gone or different, and those whose files are among `changed`
   * (absolute paths). What cannot be loaded or does not start stays as it was. Reloads run one after the other; never rejects.
   */
  async reload(changed: readonly string[] = []): Promise<ReloadReport> {
    const report = await this.reloads.run(changed, () => this.tell('loader/before-reload', changed))
    this.tell('loader/reload', report)
    return report
  }

  /** Reloads whenever a file of the composition, or of a user's plugin, has another content. Returns what ends that. */
  watch(options: WatchOptions = {}): () => void {
    const watch = new FileWatch(
      () => this.files(),
      async (changed) => void (await this.reload(changed)),
      this.startedAt,
      options,
    )
    const dispose = this.ctx.effect(() => () => watch.close(), 'loader.watch')
    return () => void dispose()
  }

  /** What the host is made of as far as it may change: composition files, and the modules of users' plugins with what they import. */
  files(): string[] {
    const { presets, patches } = this.composition
    const modules = [...this.mounts.values()].flatMap((mount) => this.modulesOf(mount))
    return [...new Set([...presets, ...patches, ...modules])].filter((file) => !/[\\/]node_modules[\\/]/.test(file))
  }

  private modulesOf({ row, found }: Mount): string[] {
    if (row.name === undefined || found === undefined || found.host) return []
    return userImports.filesOf(found.url)
  }

  private adopt(next: Composition, mounts: Map<string, Mount>): void {
    this.composition = next
    this.mounts = mounts
  }

  /** Imports and starts everything; resolves when nothing starts any more, or is overdue. Called once, by `boot`. */
  async start(): Promise<void> {
    const began = performance.now()
    this.startedAt = Date.now()
    this.beginImports()
    for (const row of this.composition.rows) {
      // Rows start in their order: what a patch adds comes after the host's own rows, which do not wait for it.
      await Promise.all(flatten([row]).map(({ id }) => this.imports.get(id) ?? Promise.resolve()))
      this.mount(this.mounts.get(row.id)!)
    }
    await this.settle()
    this.bootMs = performance.now() - began
  }

  /** Follows a fiber's state; called for every change of state in the host. */
  observe(fiber: Fiber): void {
    const mount = this.byFiber.get(fiber)
    if (mount === undefined || mount.fiber?.ctx.fiber !== fiber) return
    this.refresh(mount)
  }

  private beginImports(): void {
    const found = new Map<Mount, FoundModule>()
    for (const mount of this.mounts.values()) {
      const { row } = mount
      if (row.disabled || row.name === undefined) continue
      try {
        mount.found = findModule(row.name, row.origin.file, this.hosts)
        found.set(mount, mount.found)
      } catch (error) {
        this.failed(mount, error)
      }
    }
    const host = [...found].filter(([, each]) => each.host).map(([mount, each]) => this.import(mount, each))
    // User modules bring the module hooks with them, which would slow down the imports of the host.
    const hostDone = Promise.all(host)
    for (const [mount, each] of found) {
      if (!each.host)
        this.imports.set(
          mount.row.id,
          hostDone.then(() => this.import(mount, each)),
        )
    }
  }

  private import(mount: Mount, found: FoundModule): Promise<void> {
    const began = performance.now()
    const work = async (): Promise<void> => {
      try {
        mount.plugin = await this.plugin(found)
      } catch (error) {
        this.failed(mount, error)
      }
      mount.ms = performance.now() - began
    }
    const done = work()
    this.imports.set(mount.row.id, done)
    return done
  }

  /** The plugin of a row, in a version of its own; a promise that rejects with a `LoaderError`. */
  private async load(row: ComposedRow, version: number): Promise<{ found: FoundModule; plugin: FoundPlugin }> {
    const found = findModule(row.name!, row.origin.file, this.hosts)
    return { found, plugin: await userImports.renewed(found.url, () => this.plugin(found, version)) }
  }

  private async plugin(found: FoundModule, version?: number): Promise<FoundPlugin> {
    try {
      return findPlugin(await this.within(this.bring(found, version), 'its import has not settled'))
    } catch (error) {
      throw error instanceof LoaderError ? error : await importError(error, found)
    }
  }

  private async within<T>(work: Promise<T>, what: string): Promise<T> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(this.overdue(what)), this.readyTimeoutMs)
    })
    try {
      return await Promise.race([work, late])
    } finally {
      clearTimeout(timer)
    }
  }

  private overdue(what: string): LoaderError {
    return new LoaderError(`not ready after ${this.readyTimeoutMs} ms: ${what}`, 'ROW_NOT_READY')
  }

  private mount(mount: Mount): void {
    const { row, group, plugin } = mount
    // The rows of a group that does not run are mounted by its start.
    const parent = group === undefined ? this.ctx : group.inner
    if (parent === undefined || row.disabled || (row.rows === undefined && plugin === undefined)) return
    try {
      const ctx = isolated(parent, row)
      mount.fiber = row.rows === undefined ? ctx.plugin(wrapPlugin(plugin!, row), row.config) : this.group(ctx, mount)
      this.byFiber.set(mount.fiber.ctx.fiber, mount)
      this.refresh(mount)
    } catch (error) {
      this.failed(mount, error)
    }
  }

  // The rows of a group are mounted by its start, so that they come and go with it.
  private group(ctx: Context, mount: Mount): Fiber {
    const { id, inject } = mount.row
    const start = (inner: Context): void => {
      mount.inner = inner
      inner.effect(() => () => (mount.inner = undefined))
      for (const child of mount.row.rows ?? []) this.mount(this.mounts.get(child.id)!)
    }
    return ctx.plugin({ name: `group:${id}`, inject, apply: (inner: Context) => start(inner) })
  }

  /** Resolves when the row's fiber is gone, or is overdue: a start that never settles cannot be taken back. */
  private async unmount(mount: Mount): Promise<void> {
    const { fiber } = mount
    mount.fiber = undefined
    if (fiber === undefined) return
    await this.within(retire(fiber), 'what it leaves behind is not put away').catch((error: unknown) => {
      this.ctx.logger('loader').error(error)
    })
  }

  private refresh(mount: Mount): void {
    const fiber = mount.fiber!
    mount.recover()
    if (mount.state === 'starting') mount.startedAt = performance.now()
    else if (mount.startedAt !== 0) {
      mount.ms += performance.now() - mount.startedAt
      mount.startedAt = 0
    }
    // Upstream keeps the error of a failed start, and of a refused config, to those who await.
    fiber.await().then(
      () => {
        if (mount.fiber === fiber) this.changed(mount)
      },
      (error: unknown) => {
        if (mount.fiber === fiber) this.failed(mount, error)
      },
    )
    this.changed(mount)
  }

  private failed(mount: Mount, error: unknown): void {
    mount.fail(error)
    this.changed(mount)
  }

  private changed(mount: Mount): void {
    const { state } = mount
    if (this.lastSeen.get(mount) === state) return
    this.lastSeen.set(mount, state)
    if (hooksOf(this.ctx)['loader/change'] !== undefined) this.tell('loader/change', this.rowReport(mount))
  }

  private tell(event: string, what: unknown): void {
    const listeners = hooksOf(this.ctx)[event]
    if (listeners === undefined) return
    emitContained(listeners, undefined, [what], (error) => this.ctx.logger('loader').error(error))
  }

  // Upstream says that a start failed, or a config was refused, only to those who await the fiber.
  private async confirm(): Promise<void> {
    for (const mount of this.mounts.values()) {
      if (mount.fiber === undefined || mount.fiber.inertia !== undefined) continue
      await mount.fiber.await().catch((error: unknown) => this.failed(mount, error))
    }
  }

  // A provider that becomes active sets its consumers going at once, so the round ends when nobody is starting.
  private async settle(): Promise<void> {
    for (;;) {
      await this.confirm()
      const starting = [...this.mounts.values()].filter(
        ({ state, fiber }) => state === 'starting' && fiber !== undefined,
      )
      if (starting.length === 0) return
      const now = performance.now()
      const overdue = starting.filter(({ startedAt }) => now - startedAt >= this.readyTimeoutMs)
      for (const mount of overdue) {
        this.failed(mount, this.overdue('its apply has not settled; it may be waiting for something that never comes'))
      }
      if (overdue.length > 0) continue
      const soonest = Math.min(...starting.map(({ startedAt }) => startedAt + this.readyTimeoutMs - now))
      await raceSettled(
        starting.map(({ fiber }) => fiber!.await()),
        soonest,
      )
    }
  }
}

async function raceSettled(work: readonly Promise<unknown>[], ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, Math.max(1, ms))
  })
  const swallowed = (): void => {} // a failure is reported where the row's state is followed
  await Promise.race([late, ...work.map((each) => each.then(swallowed, swallowed))])
  clearTimeout(timer)
}

function flatten(rows: readonly ComposedRow[]): ComposedRow[] {
  return rows.flatMap((row) => [row, ...flatten(row.rows ?? [])])
}
