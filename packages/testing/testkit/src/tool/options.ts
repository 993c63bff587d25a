// What an author tells the kit about a tool, and the defaults for what was left out.
import type * as fastCheck from 'fast-check'
import type { Context, ScopeKey } from '@deepseek-ai/cordis'
import type { Json, ToolAgent, ToolDefinition } from '@deepseek-ai/dsh-tools'
import { TestkitOptionsError } from '../errors.ts'
import { CHECK_IDS, type CheckId } from './report.ts'

/** A definition, or what makes one from the services of a context. Made anew for each check. */
export type ToolUnderTest = ToolDefinition | ((ctx: Context) => ToolDefinition | Promise<ToolDefinition>)

/** What calls of one run happen in. */
export interface RunWorld {
  /** Working directory of the calling agent. */
  cwd?: string
  /** The calling agent. Default: one with `cwd` when that is given, otherwise none. */
  agent?: ToolAgent & ScopeKey
}

/** Values for parameters by path (`name`, `options.depth`, `edits[].path`), in place of what the schema allows. */
export type ArbitraryOverrides = Readonly<Record<string, fastCheck.Arbitrary<unknown>>>

export interface ToolCheckOptions {
  /** Known-good arguments: a call with any of them succeeds, and may be repeated. */
  args?: readonly unknown[]
  /** Known-good arguments whose call takes longer than `settleMs` and the deadline; for cancellation and timeout. */
  slowArgs?: readonly unknown[]
  /**
   * Narrows what is generated, and keeps hostile values of these parameters from the body. Gets fast-check, so that its caller needs
   * no copy.
   */
  arbitraries?: (fc: typeof fastCheck) => ArbitraryOverrides
  /** Generated arguments a check. Default 25. */
  runs?: number
  /** Default 1: the same arguments each time. */
  seed?: number
  /** Provides what the tool needs on the context, before the tool is made. */
  plugins?: (ctx: Context) => Promise<void>
  /** Called before each run; may name a folder or an agent. */
  setup?: () => RunWorld | undefined | Promise<RunWorld | undefined>
  /** Called after each run, also after a failed one. */
  teardown?: (world: RunWorld) => unknown
  /** How long a call may take to settle after a cancellation or its deadline, in milliseconds. Default 2000. */
  settleMs?: number
  /** How long any call may take, in milliseconds. Default 10000. */
  runMs?: number
  /** UTF-8 bytes of rendered text. Default 262144. */
  maxRenderBytes?: number
  /** UTF-8 bytes of meta as JSON. Default 65536. */
  maxMetaBytes?: number
  /** Characters of the tool's description, and of one parameter's. Default 4096. */
  maxDescriptionLength?: number
  /** Takes what differs from run to run (times, ids) out of a value, for `concurrency`. */
  normalize?: (value: Json) => unknown
  /**
   * The tool does something that generated arguments must not do: only `args`, `slowArgs` and arguments that the schema refuses are
   * run. Default false.
   */
  destructive?: boolean
  /** Checks that do not apply, each with the reason. */
  skip?: Partial<Record<CheckId, string>>
}

type Defaulted =
  | 'args'
  | 'slowArgs'
  | 'runs'
  | 'seed'
  | 'settleMs'
  | 'runMs'
  | 'maxRenderBytes'
  | 'maxMetaBytes'
  | 'maxDescriptionLength'
  | 'destructive'
  | 'skip'

export type CheckSpec = Omit<ToolCheckOptions, Defaulted> & Required<Pick<ToolCheckOptions, Defaulted>>

/** Throws `TestkitOptionsError` for an unknown check id and for numbers out of range. */
export function resolveOptions(options: ToolCheckOptions): CheckSpec {
  const spec: CheckSpec = {
    args: [],
    slowArgs: [],
    runs: 25,
    seed: 1,
    settleMs: 2000,
    runMs: 10_000,
    maxRenderBytes: 262_144,
    maxMetaBytes: 65_536,
    maxDescriptionLength: 4096,
    destructive: false,
    skip: {},
    ...options,
  }
  for (const key of ['runs', 'settleMs', 'runMs', 'maxRenderBytes', 'maxMetaBytes', 'maxDescriptionLength'] as const) {
    if (!(Number.isFinite(spec[key]) && spec[key] > 0)) {
      throw new TestkitOptionsError(`${key} must be a positive finite number (got ${String(spec[key])})`)
    }
  }
  if (!Number.isInteger(spec.seed)) throw new TestkitOptionsError(`seed must be an integer (got ${String(spec.seed)})`)
  for (const id of Object.keys(spec.skip)) {
    if ((CHECK_IDS as string[]).includes(id)) continue
    throw new TestkitOptionsError(`skip names no check: "${id}" (there are ${CHECK_IDS.join(', ')})`)
  }
  return spec
}
