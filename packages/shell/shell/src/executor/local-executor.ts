// The executor core that local providers share: defaults and caps, what is running, what was left running, disposal.
// A dialect says how a command becomes an argv; everything else is the same for every shell.
import { ShellError } from '../errors.ts'
import type { ShellOutputSlice, ShellProcess, ShellRequest, ShellResult, ShellSpec } from '../types.ts'
import { commandEnvironment, QUIET_ENVIRONMENT } from './environment.ts'
import { Execution, type Argv } from './execution.ts'
import type { ProcessTree } from './process-tree.ts'
import { resolveWorkdir } from './workdir.ts'

/** How one shell is called. */
export interface Dialect {
  argv(command: string): Argv
}

export interface ExecutorLimits {
  /** Default folder. Omitted: the host's own, as it is at each call. */
  cwd?: string
  /** Applies when a request names none, in milliseconds. */
  timeoutMs: number
  /** Cap of what a request may ask for, in milliseconds. */
  maxTimeoutMs: number
  /** Kept of each stream, in bytes. */
  maxOutputBytes: number
  drainMs: number
  graceMs: number
  /** Exact names of host variables that reach commands although they look like secrets. */
  envAllow: readonly string[]
}

export class LocalExecutor {
  readonly #dialect: Dialect
  readonly #limits: ExecutorLimits
  readonly #envAllow: ReadonlySet<string>
  readonly #running = new Set<Promise<unknown>>()
  readonly #executions = new Set<Execution>()
  #leftBehind: ProcessTree[] = []
  #disposal: Promise<void> | undefined

  constructor(dialect: Dialect, limits: ExecutorLimits) {
    this.#dialect = dialect
    this.#limits = limits
    this.#envAllow = new Set(limits.envAllow)
  }

  /** Throws `ShellError`: `SHELL_INVALID_REQUEST` or `SHELL_WORKDIR_UNUSABLE`. */
  resolve(request: ShellRequest): ShellSpec {
    const limits = this.#limits
    if (request.command.trim() === '') throw invalid('command is blank; say what to run')
    const timeoutMs = request.timeoutMs ?? limits.timeoutMs
    if (!Number.isFinite(timeoutMs) || timeoutMs <= 0) {
      throw invalid(`timeoutMs is ${timeoutMs}; expected a positive number of milliseconds`)
    }
    const workdir = resolveWorkdir({
      workdir: request.workdir,
      defaults: [() => request.cwd, () => limits.cwd, () => process.cwd()],
    })
    const env = commandEnvironment({
      ambient: process.env,
      allow: this.#envAllow,
      // Otherwise a shell that was given the host's PWD reports a folder reached over a symlink by its other name.
      quiet: { ...QUIET_ENVIRONMENT, PWD: workdir },
      explicit: request.env,
    })
    return {
      ...request,
      workdir,
      env,
      timeoutMs: Math.min(timeoutMs, limits.maxTimeoutMs),
      maxOutputBytes: limits.maxOutputBytes,
      drainMs: limits.drainMs,
      graceMs: limits.graceMs,
    }
  }

  async run(spec: ShellSpec): Promise<ShellResult> {
    return (await this.start(spec)).result
  }

  start(spec: ShellSpec): Promise<ShellProcess> {
    const starting = this.#launch(spec)
    this.#track(starting)
    return starting
  }

  /** Aborts what runs, ends what was left running, and waits for both. Later calls return the same promise. */
  dispose(): Promise<void> {
    return (this.#disposal ??= this.#endEverything())
  }

  async #launch(spec: ShellSpec): Promise<ShellProcess> {
    if (this.#disposal !== undefined) throw disposed()
    if (spec.signal?.aborted === true) return neverStarted(spec)
    const execution = await Execution.start(this.#dialect.argv(spec.command), spec)
    this.#executions.add(execution)
    this.#track(this.#forget(execution))
    // Disposal may have begun while the process was being started.
    if (this.#disposal !== undefined) execution.kill()
    return execution
  }

  async #forget(execution: Execution): Promise<void> {
    try {
      const { kill } = await execution.result
      if (kill !== undefined && kill.survivors.length > 0) await this.#remember(execution.tree)
    } finally {
      this.#executions.delete(execution)
    }
  }

  #track(work: Promise<unknown>): void {
    this.#running.add(work)
    // Whoever started it hears of a failure; this only waits.
    const forget = (): void => void this.#running.delete(work)
    void work.then(forget, forget)
  }

  /** Keeps hold of a tree that goes on, and lets go of those that have ended meanwhile. */
  async #remember(tree: ProcessTree): Promise<void> {
    const earlier = this.#leftBehind
    this.#leftBehind = [tree]
    const quiet = await Promise.all(earlier.map((each) => each.isQuiet()))
    this.#leftBehind.push(...earlier.filter((_, index) => quiet[index] === false))
  }

  async #endEverything(): Promise<void> {
    for (const execution of this.#executions) execution.kill()
    // What is being started adds a second promise of its own when it runs.
    while (this.#running.size > 0) await Promise.allSettled(this.#running)
    await Promise.all(this.#leftBehind.map((tree) => tree.terminate(this.#limits.graceMs)))
    this.#leftBehind = []
  }
}

function neverStarted(spec: ShellSpec): ShellProcess {
  const result = Promise.resolve(nothingHappened(spec))
  const read = (): ShellOutputSlice => ({ text: '', cursor: 0, lost: 0 })
  return { pid: 0, result, read, detach: () => {}, kill: () => {} }
}

function nothingHappened(spec: ShellSpec): ShellResult {
  const nothing = { text: '', truncated: false, totalBytes: 0 }
  return {
    exitCode: null,
    signal: null,
    timedOut: false,
    aborted: true,
    timeoutMs: spec.timeoutMs,
    durationMs: 0,
    stdout: nothing,
    stderr: nothing,
    workdir: spec.workdir,
  }
}

function invalid(message: string): ShellError {
  return new ShellError(message, 'SHELL_INVALID_REQUEST')
}

function disposed(): ShellError {
  return new ShellError('the shell is being shut down; nothing more is started', 'SHELL_DISPOSED')
}
