// From files to a composition: stacks presets and patches, decides `when`, fills in variables. Starts nothing.
import { homedir } from 'node:os'
import { isAbsolute, join, resolve } from 'node:path'
import { readEntries, type Entry } from './entry.ts'
import { LoaderError } from './errors.ts'
import { escapeVariables, interpolate, VariableError, type Variables } from './interpolate.ts'
import { Layers, type Layer } from './layers.ts'
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
  const prepared = readPrepared(options.prepared)
  const read = (file: string): Source => readSource(file, prepared)
  const layers = new Layers({ read, presetFiles: options.presetFiles ?? unknownPreset })
  for (const file of options.presets) layers.add(file, true)
  for (const file of options.patches ?? []) layers.add(isAbsolute(file) ? file : resolve(cwd, file), false)
  return composeLayers(layers.list, { ...options, cwd })
}

/** `compose` over files that are already read. They include nothing. */
export function composeSources(
  presets: readonly Source[],
  patches: readonly Source[],
  options: Omit<ComposeOptions, 'presets' | 'patches' | 'prepared'>,
): Composition {
  const layer = (preset: boolean) => (source: Source) => ({ file: source.file, entries: readEntries(source), preset })
  return composeLayers([...presets.map(layer(true)), ...patches.map(layer(false))], options)
}

function composeLayers(
  layers: readonly Layer[],
  options: Omit<ComposeOptions, 'presets' | 'patches' | 'prepared'>,
): Composition {
  const tree = new RowTree()
  for (const { entries, preset } of layers) tree.apply(entries, preset)
  tree.apply((options.overrides ?? []).map(commandLineEntry), false)
  const env = options.env ?? process.env
  const variables = { env, cwd: options.cwd ?? process.cwd(), home: options.home ?? defaultHome(env) }
  const skipped: SkippedRow[] = []
  const rows = finish(tree.rows, { variables, here: { env, platform: options.platform ?? process.platform }, skipped })
  const files = (preset: boolean): string[] => layers.filter((layer) => layer.preset === preset).map(({ file }) => file)
  return { rows, skipped, presets: files(true), patches: files(false) }
}

function unknownPreset(name: string): never {
  throw new LoaderError(`no preset "${name}" is known here; name a file`, 'COMPOSITION_INVALID')
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
  const { config, rows, setBy, ...kept } = { ...draft, disabled }
  const rest = { ...kept, setBy: Object.fromEntries(setBy) }
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
