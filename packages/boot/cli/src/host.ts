// Boots the composition that a command asks for and prints what did not start. Knows no command's work.
import { existsSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createHost, errorMessage, type Context, type Host, type LogLevel } from '@deepseek-ai/cordis'
import {
  boot,
  compose,
  defaultHome,
  type BootReport,
  type Composition,
  type RowOverride,
} from '@deepseek-ai/dsh-loader'
import { presetFiles, presetNames } from '@deepseek-ai/dsh-presets'
import { BootLog } from './boot-log.ts'
import { CommandError, EXIT } from './exit.ts'

/** Flags that every command shares. */
export interface HostFlags {
  patch: string[]
  preset: string
  cwd?: string
  /** Mode of the sandbox policy. Default: what the composition says. */
  permission?: string
  model?: string
  /** Milliseconds for the import and the start of one plugin. Default: the loader's. */
  readyTimeout?: number
  log: LogLevel
}

export interface RunningHost {
  readonly ctx: Context
  readonly report: BootReport
  dispose(): Promise<void>
}

/** Made by `build/prepare-presets.mjs`. */
const PREPARED_PRESETS = fileURLToPath(new URL('../dist/presets.json', import.meta.url))

/** The composition of a command, flags applied. Works from `--cwd` from here on, as if the command had been typed there. */
export function composition(flags: HostFlags, overrides: readonly RowOverride[] = []): Composition {
  return composer(flags, overrides)()
}

/** `composition` as often as wanted, from the files as they are then. */
function composer(flags: HostFlags, overrides: readonly RowOverride[] = []): () => Composition {
  const patches = flags.patch.map((file) => resolve(file))
  if (flags.cwd !== undefined) enter(flags.cwd)
  const model = flags.model === undefined ? [] : [{ id: 'llm', config: { default: flags.model } }]
  const permission =
    flags.permission === undefined ? [] : [{ id: 'sandbox-policy', config: { mode: flags.permission } }]
  return () => {
    const own = ownPreset(flags.preset)
    return compose({
      ...(own === undefined
        ? { presets: presetFiles(flags.preset), patches }
        : { presets: [], patches: [own, ...patches] }),
      presetFiles: includedFiles,
      overrides: [...model, ...permission, ...overrides],
      prepared: PREPARED_PRESETS,
    })
  }
}

/** A preset of the person's own: `presets/NAME.yml` in the home folder. It comes before one that ships under the same name. */
function ownPreset(name: string): string | undefined {
  const file = join(defaultHome(process.env), 'presets', `${name}.yml`)
  return /^[\w.-]+$/.test(name) && existsSync(file) ? file : undefined
}

/** Inside of files the shipped one comes first, so that one's own `web` can begin with `include: web`. */
function includedFiles(name: string): readonly string[] {
  if ((presetNames() as string[]).includes(name)) return presetFiles(name)
  const own = ownPreset(name)
  return own === undefined ? presetFiles(name) : [own]
}

function enter(folder: string): void {
  const path = resolve(folder)
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new CommandError(`--cwd ${folder}: there is no such folder (looked for ${path})`, EXIT.usage)
  }
  process.chdir(path)
}

/**
 * Boots for a command. Rows that did not start are printed to standard error; a required one among them ends the command.
 * The rest works: one broken plugin costs its own tools only.
 */
export async function start(
  flags: HostFlags,
  options: { overrides?: readonly RowOverride[]; handleSignals?: boolean } = {},
): Promise<RunningHost> {
  const recompose = composer(flags, options.overrides)
  return startComposed(recompose(), flags, {
    ...options,
    recompose,
    failure: 'a part that everything else needs did not start (see above)',
  })
}

/** `start` for a composition that a command has made itself. `failure` is what a required row that did not start ends it with. */
export async function startComposed(
  composed: Composition,
  flags: HostFlags,
  options: { handleSignals?: boolean; recompose?: () => Composition; failure: string },
): Promise<RunningHost> {
  const host = await booted(composed, flags, options)
  if (host.report.ok) return host
  await host.dispose()
  throw new CommandError(options.failure, EXIT.failed)
}

/** `start` for a command that looks at what there is: a required row that did not start is in the report. */
export function startWhatCan(flags: HostFlags): Promise<RunningHost> {
  return booted(composition(flags), flags)
}

async function booted(
  composed: Composition,
  flags: HostFlags,
  { handleSignals = false, recompose }: { handleSignals?: boolean; recompose?: () => Composition } = {},
): Promise<RunningHost> {
  const log = new BootLog()
  const { log: logLevel, readyTimeout } = flags
  const host: Host = createHost({ logLevel, handleSignals, write: (line) => log.write(line) })
  if (!handleSignals) containFaults(log)
  const report = await boot(composed, {
    ctx: host.ctx,
    hostURL: import.meta.url,
    ...(recompose === undefined ? {} : { recompose }),
    ...(readyTimeout === undefined ? {} : { readyTimeoutMs: readyTimeout }),
  })
  log.release(report)
  return { ctx: host.ctx, report, dispose: () => stopped(host) }
}

/** Longer than the shell gives a command to end by itself. */
const STOP_MS = 4000

/** Stops the host. A plugin whose start never settles never stops either: without the timer the process would end here, with code 0. */
async function stopped(host: Host): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, STOP_MS)))
  await Promise.race([host.dispose(), late])
  clearTimeout(timer)
}

/**
 * One stray fault of a plugin must not end the command. A host that lives until a signal does this itself; a command may be
 * through, its host with it, before the platform tells of a rejection.
 */
function containFaults(log: BootLog): void {
  const told = (what: string) => (thrown: unknown) => log.write(`error host: ${what}: ${errorMessage(thrown)}`)
  process.on('unhandledRejection', told('unhandled rejection'))
  process.on('uncaughtException', told('uncaught exception'))
}

/** A service that a command cannot do without, since its composition may lack the row. */
export function required<K extends 'agents' | 'tools' | 'server'>(
  ctx: Context,
  service: K,
  flags: HostFlags,
): Context[K] {
  const found: Context[K] | undefined = ctx.get(service)
  if (found !== undefined) return found
  const patched = flags.patch.length === 0 ? '' : ', as patched,'
  const dump = `dsh config dump --preset ${flags.preset}`
  throw new CommandError(
    `the composition "${flags.preset}"${patched} provides no "${service}" (${dump} shows its rows)`,
    EXIT.usage,
  )
}

/** Runs `work` against a booted host and stops the host whatever happens. */
export async function withHost<T>(flags: HostFlags, work: (host: RunningHost) => Promise<T>): Promise<T> {
  const host = await start(flags)
  try {
    return await work(host)
  } finally {
    await host.dispose()
  }
}

/** Calls `stop` at the first SIGINT or SIGTERM; a second one ends the process at once. Returns what undoes it. */
export function onInterrupt(stop: () => void): () => void {
  let asked = false
  const handler = (): void => {
    if (asked) process.exit(EXIT.interrupted)
    asked = true
    stop()
  }
  process.on('SIGINT', handler)
  process.on('SIGTERM', handler)
  return () => {
    process.off('SIGINT', handler)
    process.off('SIGTERM', handler)
  }
}
