// `dsh tools check`: holds every tool of one module to the contract of tools, and reports. The checks are the testkit's.
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { isAbsolute, join, resolve } from 'node:path'
import { errorCode, errorMessage } from '@deepseek-ai/cordis'
import type { ComposedRow, Composition } from '@deepseek-ai/dsh-loader'
import type { ToolCheckOptions, ToolReport } from '@deepseek-ai/dsh-testkit'
import type { ToolDefinition } from '@deepseek-ai/dsh-tools'
import { CommandError, EXIT, type ExitCode } from '../exit.ts'
import { composition, startComposed, type RunningHost } from '../host.ts'
import { asLines } from '../text.ts'
import type { OutputFlags } from '../program.ts'

export interface CheckFlags extends OutputFlags {
  /** Known-good arguments of the only tool, each a JSON object. */
  args: string[]
  /** A file with known-good arguments by tool name. */
  samples?: string
  /** Also run the tools with arguments made up from their schemas. */
  generate?: boolean
  seed?: number
}

export async function checkTools(module: string, flags: CheckFlags): Promise<ExitCode> {
  // Words of the command line count from where it was typed, and `composition` moves to `--cwd`.
  const name = isPath(module) ? resolve(module) : module
  if (isPath(module) && !existsSync(name)) throw new CommandError(`there is no file ${name}`, EXIT.usage)
  const origin = { file: resolve('command-line'), line: 1, column: 1 }
  const samples = flags.samples === undefined ? {} : readSamples(flags.samples)
  const composed = composition(flags)
  const known = await withBooted(without(composed, name), flags, async (host) => toolNames(host))
  return withBooted(withModule(composed, name, origin), flags, async (host) => {
    const added = toolNames(host).filter((tool) => !known.includes(tool))
    if (added.length === 0) throw new CommandError(`${module} registered no tool`, EXIT.failed)
    const definitions = added.map((tool) => definitionOf(host, tool))
    const given = withWords(samples, definitions, flags.args)
    const reports: ToolReport[] = []
    for (const definition of definitions) reports.push(await checkOne(definition, given[definition.name] ?? [], flags))
    await print(reports, flags)
    return reports.every(({ ok }) => ok) ? EXIT.done : EXIT.failed
  })
}

function isPath(module: string): boolean {
  return isAbsolute(module) || /^\.{1,2}([\\/]|$)/.test(module) || /\.[cm]?[jt]s$/.test(module)
}

/** The composition before the module: a row that has it already is left out. */
function without(composed: Composition, name: string): Composition {
  const prune = (rows: readonly ComposedRow[]): ComposedRow[] =>
    rows.flatMap((row) => {
      if (row.name === name) return []
      return [row.rows === undefined ? row : { ...row, rows: prune(row.rows) }]
    })
  return { ...composed, rows: prune(composed.rows) }
}

/** The composition with the module: the row that has it, otherwise one of its own at the end. */
function withModule(composed: Composition, name: string, origin: ComposedRow['origin']): Composition {
  const has = (rows: readonly ComposedRow[]): boolean => rows.some((row) => row.name === name || has(row.rows ?? []))
  if (has(composed.rows)) return composed
  const row: ComposedRow = {
    id: 'checked-module',
    name,
    disabled: false,
    required: true,
    inject: {},
    isolate: {},
    origin,
    changedBy: [],
    setBy: {},
  }
  return { ...composed, rows: [...composed.rows, row] }
}

async function withBooted<T>(
  composed: Composition,
  flags: CheckFlags,
  work: (host: RunningHost) => Promise<T>,
): Promise<T> {
  const failure = 'the module, or a part it needs, did not start (see above)'
  const host = await startComposed(composed, flags, { handleSignals: true, failure })
  try {
    return await work(host)
  } finally {
    await host.dispose()
  }
}

function toolNames({ ctx }: RunningHost): string[] {
  return ctx.tools.schemas().map(({ name }) => name)
}

/** Note: what a provider would refuse as a name is told to models under another one. */
function definitionOf({ ctx }: RunningHost, name: string): ToolDefinition {
  const definition = ctx.tools.get(name)
  if (definition !== undefined) return definition
  throw new CommandError(`the tool that models know as "${name}" has a name that providers refuse`, EXIT.failed)
}

type Samples = Readonly<Record<string, readonly unknown[]>>

function readSamples(file: string): Samples {
  let parsed: unknown
  try {
    parsed = JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw new CommandError(`--samples ${file}: ${errorMessage(error)}`, EXIT.usage)
  }
  const isMap = typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)
  if (isMap && Object.values(parsed as object).every(Array.isArray)) return parsed as Samples
  throw new CommandError(`--samples ${file}: wanted {"tool": [arguments, …], …}`, EXIT.usage)
}

/** Adds what `--args` gives; it names no tool, so there must be only one. */
function withWords(samples: Samples, definitions: readonly ToolDefinition[], words: readonly string[]): Samples {
  if (words.length === 0) return samples
  const [only, ...others] = definitions.map(({ name }) => name)
  if (others.length > 0) {
    throw new CommandError(
      `--args is for a module with one tool; give --samples for ${[only, ...others].join(', ')}`,
      EXIT.usage,
    )
  }
  const parsed = words.map((word): unknown => {
    try {
      return JSON.parse(word)
    } catch (error) {
      throw new CommandError(`--args is not JSON: ${errorMessage(error)} (got ${word})`, EXIT.usage)
    }
  })
  return { ...samples, [only!]: [...(samples[only!] ?? []), ...parsed] }
}

/** Each run works in an empty folder of its own. */
async function checkOne(definition: ToolDefinition, args: readonly unknown[], flags: CheckFlags): Promise<ToolReport> {
  const { checkTool } = await import('@deepseek-ai/dsh-testkit')
  const options: ToolCheckOptions = {
    args,
    destructive: flags.generate !== true,
    setup: () => ({ cwd: realpathSync(mkdtempSync(join(tmpdir(), 'dsh-check-'))) }),
    teardown: ({ cwd }) => rmSync(cwd!, { recursive: true, force: true }),
    ...(flags.seed === undefined ? {} : { seed: flags.seed }),
  }
  try {
    return await checkTool(definition, options)
  } catch (error) {
    if (errorCode(error) !== 'TESTKIT_OPTIONS') throw error
    throw new CommandError(`${definition.name}: ${errorMessage(error)}`, EXIT.usage)
  }
}

async function print(reports: readonly ToolReport[], flags: CheckFlags): Promise<void> {
  if (flags.json === true) {
    process.stdout.write(`${JSON.stringify(reports)}\n`)
    return
  }
  const { formatReport } = await import('@deepseek-ai/dsh-testkit')
  process.stdout.write(asLines(reports.map(formatReport).join('\n\n')))
}
