// The executor core that local providers share: defaults and caps, what is running, what was left running, disposal.
// A dialect says how a command becomes an argv; everything else is the same for every shell.
import { randomUUID } from 'node:crypto'
import type { ConfinedCommand } from '@deepseek-ai/dsh-sandbox'
import { ShellError } from '../errors.ts'
import type { ShellOutputSlice, ShellProcess, ShellRequest, ShellResult, ShellSpec } from '../types.ts'
import type { ExecutorLimits } from './config.ts'
import { commandEnvironment } from './environment.ts'
import { assertSpawnable, Execution, type Argv, type Launch } from './execution.ts'
import type { CommandTree } from './process-tree.ts'
import { Watchdog } from './watchdog.ts'
import { resolveWorkdir } from './workdir.ts'

/** Marks every process of a call. Inherited, so that one that left group and session is still found. */
const CALL_MARK = 'DSH_CALL_ID'

/** How one command is called. */
export interface Invocation {
  readonly argv: Argv
  /** Gives back what was made for it, once it has ended. */
  readonly release?: () => void
}

/** How one shell is called. */
export interface Dialect {
  /** Variables that keep programs from prompting, paging and colouring. */
  readonly quiet: Readonly<Record<string, string>>
  invoke(command: string): Invocation
}

/**
 * Confines a command that is about to be spawned; undefined: it runs plainly. `spec` is what runs. Rejects with a coded error
 * when it cannot be confined.
 */
export type Confine = (request: {
  argv: Argv
  env: Readonly<Record<string, string>>
  spec: ShellSpec
}) => Promise<{ command: ConfinedCommand; spec: ShellSpec } | undefined>

export interface ExecutorOptions {
  dialect: Dialect
  limits: ExecutorLimits
  /** Omitted: nothing is confined, and a request that asks for it is refused. */
  confine?: Confine
}

export class LocalExecutor {
  readonly #dialect: Dialect
  readonly #limits: ExecutorLimits
  readonly #confine: Confine | undefined
  readonly #envAllow: ReadonlySet<string>
  /** Common to the marks of all calls. */
  readonly #id = randomUUID()
  readonly #watchdog: Watchdog
  readonly #running = new Set<Promise<unknown>>()
  readonly #executions = new Set<Execution>()
  #calls = 0
  #leftBehind: CommandTree[] = []
  #disposal: Promise<void> | undefined

  constructor({ dialect, limits, confine }: ExecutorOptions) {
    this.#dialect = dialect
    this.#limits = limits
    this.#confine = confine
    this.#envAllow = new Set(limits.envAllow)
    this.#watchdog = new Watchdog({ markPrefix: `${CALL_MARK}=${this.#id}-`, graceMs: limits.graceMs })
  }

  /** Throws `ShellError`: `SHELL_INVALID_REQUEST` or `SHELL_WORKDIR_UNUSABLE`. */
  resolve(request: ShellRequest): ShellSpec {
    const limits = this.#limits
    if (request.command.trim() === '') throw invalid('command is blank; say what to run')
    if (request.sandboxPolicy !== undefined && this.#confine === undefined) {
      throw invalid('sandboxPolicy is set, but this shell confines nothing; use a shell provider that does')
    }
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
      quiet: { ...this.#dialect.quiet, PWD: workdir },
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
    if (hasAborted(spec)) return neverStarted(spec)
    const { argv, release } = this.#dialect.invoke(spec.command)
    const mark = `${this.#id}-${++this.#calls}`
    const env = { ...spec.env, [CALL_MARK]: mark }
    const plain: Launch = { argv, env, mark: `${CALL_MARK}=${mark}`, release }
    if (this.#confine === undefined) return this.#begin(plain, spec)
    const confined = await this.#confined(plain, spec)
    const late = this.#isDisposed() || hasAborted(spec)
    if (!late) return this.#begin(confined.launch, confined.spec)
    confined.launch.confined?.release()
    release?.()
    if (this.#isDisposed()) throw disposed()
    return neverStarted(spec)
  }

  /** A call: what it says may change while something is awaited. */
  #isDisposed(): boolean {
    return this.#disposal !== undefined
  }

  async #confined(plain: Launch, spec: ShellSpec): Promise<{ launch: Launch; spec: ShellSpec }> {
    try {
      // A runner would fail at these in words of its own, and may be given its arguments separated by NULs.
      assertSpawnable(plain, spec)
      const confined = await this.#confine?.({ argv: plain.argv, env: plain.env, spec })
      if (confined === undefined) return { launch: plain, spec }
      const { command } = confined
      return { launch: { ...plain, argv: command.argv, env: command.env, confined: command }, spec: confined.spec }
    } catch (error) {
      plain.release?.()
      throw error
    }
  }

  async #begin(launch: Launch, spec: ShellSpec): Promise<Execution> {
    const owner = {}
    // Before the command: a host that dies in between would leave it.
    this.#watchdog.start()
    const execution = await Execution.start(
      { ...launch, onEscape: ({ pid, startTime }) => this.#watchdog.guard(owner, 'single', pid, startTime) },
      spec,
    )
    this.#watchdog.guard(owner, 'leader', execution.pid)
    this.#executions.add(execution)
    this.#track(this.#forget(execution, owner))
    // Disposal may have begun while the process was being started.
    if (this.#disposal !== undefined) execution.kill()
    return execution
  }

  async #forget(execution: Execution, owner: object): Promise<void> {
    let isLeft = false
    try {
      const { kill } = await execution.result
      isLeft = kill !== undefined && kill.survivors.length > 0
    } finally {
      this.#executions.delete(execution)
      this.#watchdog.release(owner)
    }
    if (isLeft) await this.#remember(execution.tree)
  }

  #track(work: Promise<unknown>): void {
    this.#running.add(work)
    // Whoever started it hears of a failure; this only waits.
    const forget = (): void => void this.#running.delete(work)
    void work.then(forget, forget)
  }

  /** Keeps hold of a tree that goes on, and lets go of those that have ended meanwhile. */
  async #remember(tree: CommandTree): Promise<void> {
    this.#leftBehind.push(tree)
    for (const { pid, startTime } of tree.survivors()) this.#watchdog.guard(tree, 'single', pid, startTime)
    const earlier = this.#leftBehind.filter((each) => each !== tree)
    for (const each of earlier) {
      if (!(await each.isQuiet())) continue
      this.#watchdog.release(each)
      this.#leftBehind = this.#leftBehind.filter((other) => other !== each)
    }
  }

  async #endEverything(): Promise<void> {
    for (const execution of this.#executions) execution.kill()
    // What is being started adds a second promise of its own when it runs.
    while (this.#running.size > 0) await Promise.allSettled(this.#running)
    await Promise.all(this.#leftBehind.map((tree) => tree.terminate(this.#limits.graceMs)))
    this.#leftBehind = []
    await this.#watchdog.close()
  }
}

function hasAborted({ signal }: ShellSpec): boolean {
  return signal?.aborted === true
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
