// From files to a composition: stacks presets and patches, decides `when`, fills in variables. Starts nothing.
import { homedir } from 'node:os'
import { isAbsolute, join, resolve } from 'node:path'
import { readEntries, type Entry } from './entry.ts'
import { LoaderError } from './errors.ts'
import { escapeVariables, interpolate, VariableError, type Variables } from './interpolate.ts'
import { RowTree, type DraftRow } from './patch.ts'
import { readPrepared, readSource } from './prepared.ts'
import { place, type Source } from './source.ts'
import { unmetCondition, type Surroundings } from './when.ts'
import type { ComposedRow, ComposeOptions, Composition, RowOverride, SkippedRow } from './types.ts'

/**
 * Reads the files and returns what boots. Depends on nothing but its options and the files.
 * Throws a `LoaderError` whose message starts with `file:line:column`.
 */
export function compose(options: ComposeOptions): Composition {
  const cwd = options.cwd ?? process.cwd()
  const patches = (options.patches ?? []).map((file) => (isAbsolute(file) ? file : resolve(cwd, file)))
  const prepared = readPrepared(options.prepared)
  const read = (file: string): Source => readSource(file, prepared)
  return composeSources(options.presets.map(read), patches.map(read), { ...options, cwd })
}

/** `compose` over files that are already read. */
export function composeSources(
  presets: readonly Source[],
  patches: readonly Source[],
  options: Omit<ComposeOptions, 'presets' | 'patches' | 'prepared'>,
): Composition {
  const tree = new RowTree()
  for (const source of presets) tree.apply(readEntries(source), true)
  for (const source of patches) tree.apply(readEntries(source), false)
  tree.apply((options.overrides ?? []).map(commandLineEntry), false)
  const env = options.env ?? process.env
  const variables = { env, cwd: options.cwd ?? process.cwd(), home: options.home ?? defaultHome(env) }
  const skipped: SkippedRow[] = []
  const rows = finish(tree.rows, { variables, here: { env, platform: options.platform ?? process.platform }, skipped })
  return { rows, skipped, presets: presets.map(({ file }) => file), patches: patches.map(({ file }) => file) }
}

const COMMAND_LINE = { file: 'the command line', line: 0, column: 0 }

function commandLineEntry({ id, config, disabled }: RowOverride): Entry {
  const merge = config === undefined ? {} : { merge: escapeVariables(config) as Record<string, unknown> }
  const fields = { ...merge, ...(disabled === undefined ? {} : { disabled }) }
  return { kind: 'override', id, origin: COMMAND_LINE, fields }
}

/** `$DSH_HOME`, otherwise `.dsh` in the user's home folder. */
export function defaultHome(env: Readonly<Record<string, string | undefined>>): string {
  const set = env['DSH_HOME']
  return set === undefined || set === '' ? join(homedir(), '.dsh') : resolve(set)
}

interface Finishing {
  readonly variables: Variables
  readonly here: Surroundings
  readonly skipped: SkippedRow[]
}

function finish(drafts: readonly DraftRow[], finishing: Finishing, parentDisabled = false): ComposedRow[] {
  const rows: ComposedRow[] = []
  for (const draft of drafts) {
    const reason = unmetCondition(draft.when, finishing.here)
    if (reason !== undefined) skip(draft, reason, finishing.skipped)
    else rows.push(finishRow(draft, finishing, parentDisabled))
  }
  return rows
}

function finishRow(draft: DraftRow, finishing: Finishing, parentDisabled: boolean): ComposedRow {
  const disabled = parentDisabled || draft.disabled
  const { config, rows, ...rest } = { ...draft, disabled }
  if (rows !== undefined) return { ...rest, rows: finish(rows, finishing, disabled) }
  if (config === undefined) return rest
  // What a disabled row would need must not keep the others from starting.
  if (disabled) return { ...rest, config, shownConfig: config }
  try {
    const { value, shown } = interpolate(config, finishing.variables, 'config')
    return { ...rest, config: value, shownConfig: shown }
  } catch (error) {
    if (!(error instanceof VariableError)) throw error
    const message = `${place(draft.origin)}: row "${draft.id}", field ${error.path}: ${error.message}`
    throw new LoaderError(message, 'COMPOSITION_VARIABLE')
  }
}

function skip(draft: DraftRow, reason: string, skipped: SkippedRow[]): void {
  skipped.push({ id: draft.id, reason, ...(draft.name === undefined ? {} : { name: draft.name }) })
  for (const child of draft.rows ?? []) skip(child, reason, skipped)
}
