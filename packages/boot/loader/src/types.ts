// The types of compositions and boot reports: what hosts and commands read. No behaviour.
import type { Context } from '@deepseek-ai/cordis'

/** Where something was written: an absolute path, and a line and a column counted from 1. */
export interface Origin {
  readonly file: string
  readonly line: number
  readonly column: number
}

/** Environment conditions: a name that must be set and not empty, or values by name; null means "not set". */
export type EnvCondition = string | Readonly<Record<string, string | null>>

export interface When {
  readonly platform?: readonly string[]
  readonly env?: EnvCondition
}

/** One row as it boots: patches applied, `when` decided, `${…}` filled in. */
export interface ComposedRow {
  readonly id: string
  /** Bare package name, `node:`-free URL or absolute path; undefined for a group. Relative names are already absolute. */
  readonly name?: string
  /** The rows of a group; undefined for a plugin. */
  readonly rows?: readonly ComposedRow[]
  /** What the plugin receives; may hold secrets from the environment. */
  readonly config?: unknown
  /** `config` as it may be printed: escaped, with secrets as the `${env.…}` text that brings them. */
  readonly shownConfig?: unknown
  readonly disabled: boolean
  readonly required: boolean
  /** Services the row waits for, on top of what its plugin asks for. */
  readonly inject: Readonly<Record<string, unknown>>
  readonly isolate: Readonly<Record<string, true | string>>
  readonly when?: When
  /** Where the row was written; bare module names resolve from here. */
  readonly origin: Origin
  /** Files that changed the row afterwards, in order. */
  readonly changedBy: readonly string[]
  /** Which entry has the last word on a field: `name`, `when`, `config.a.b` … A field that no entry names has its default. */
  readonly setBy: Readonly<Record<string, Origin>>
}

/** A row that `when` left out here. */
export interface SkippedRow {
  readonly id: string
  readonly name?: string
  readonly reason: string
}

export interface Composition {
  readonly rows: readonly ComposedRow[]
  readonly skipped: readonly SkippedRow[]
  /** The preset files that were read, in order; they resolve module names like the host itself. */
  readonly presets: readonly string[]
  /** The patch files that were read, in order. */
  readonly patches: readonly string[]
}

/** A change that a command makes for its flags, after all patches. Text in it is taken literally. */
export interface RowOverride {
  readonly id: string
  /** Merged into the row's config, like `config+` in a patch. */
  readonly config?: Readonly<Record<string, unknown>>
  readonly disabled?: boolean
}

export interface ComposeOptions {
  /** Absolute paths of the preset files, in stack order. Their rows are required unless they say otherwise. */
  readonly presets: readonly string[]
  /** Paths of patch files, in order; relative ones count from `cwd`. Their rows are optional unless they say otherwise. */
  readonly patches?: readonly string[]
  /** What `include: NAME` in a file stands for, as absolute paths. Throws for an unknown name. Default: no name is known. */
  readonly presetFiles?: (name: string) => readonly string[]
  /** Applied last. A row that the composition does not have is an error. */
  readonly overrides?: readonly RowOverride[]
  /** Default `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** What `${cwd}` becomes. Default `process.cwd()`. */
  readonly cwd?: string
  /** What `${home}` becomes. Default `$DSH_HOME`, otherwise `.dsh` in the user's home folder. */
  readonly home?: string
  /** What `when.platform` is compared with. Default `process.platform`. */
  readonly platform?: string
  /** Path of what `prepareFiles` made: a file that has the same text there need not be parsed. Default: all are parsed. */
  readonly prepared?: string
}

/** `starting` is only seen while boot runs; a report that boot returns has no such row. */
export type RowState = 'starting' | 'active' | 'failed' | 'waiting' | 'disabled'

export interface RowReport {
  /** The row's id. */
  readonly row: string
  readonly module?: string
  /** The file that names the row, an absolute path. */
  readonly file: string
  readonly line: number
  readonly state: RowState
  readonly required: boolean
  /** Why it failed or what it waits for, as one printable message. */
  readonly error?: string
  /** A `LoaderErrorCode`, or the code of the plugin's own `HarnessError`. */
  readonly code?: string
  /** The stack of a failed plugin, with lines of the source it was written in. */
  readonly stack?: string
  /** The services a waiting row lacks. */
  readonly missing?: readonly string[]
  /** Import plus start, in milliseconds. */
  readonly ms: number
}

export interface BootReport {
  /** True when every required row is active (or disabled). */
  readonly ok: boolean
  readonly rows: readonly RowReport[]
  /** The rows that failed or wait, required or not. */
  readonly problems: readonly RowReport[]
  readonly ms: number
}

/** What became of one row in a reload. */
export interface RowChange {
  readonly row: string
  readonly module?: string
  /** `kept`: the new version failed, and the old one runs. `failed`: it failed, and there is no old one that runs. */
  readonly kind: 'added' | 'removed' | 'reloaded' | 'kept' | 'failed'
  /** Why it was taken up: files of its plugin, absolute paths, or what of the row is different. */
  readonly because: readonly string[]
  /** Why it is not as written, as one printable message. */
  readonly error?: string
  readonly code?: string
}

export interface ReloadReport {
  /** Files that had changed, absolute paths. */
  readonly files: readonly string[]
  /** Only rows that were taken up, in the order of the composition. */
  readonly rows: readonly RowChange[]
  /** Why the composition could not be made; everything stays as it was. */
  readonly error?: string
  readonly ms: number
}

export interface BootOptions {
  readonly ctx: Context
  /**
   * Modules (`import.meta.url`) whose dependencies are the host's own copies; tried in order. Bare names that a file cannot
   * resolve itself are looked up here, and `@deepseek-ai/*` and `cordis` always are. Default: the loader's own.
   */
  readonly hostURL?: string | readonly string[]
  /** How long an import or a start may take before its row counts as failed. Default 10000. */
  readonly readyTimeoutMs?: number
  /** Makes the composition again from its files, for a reload. Throws a `LoaderError`. Default: the composition stays as it is. */
  readonly recompose?: () => Composition
  /** How modules are brought in; for tests and embedding. Default: the platform's `import()`. */
  readonly importModule?: (url: string) => Promise<unknown>
}
