// One command from spawn to result: streams, the first cause that ends it, the drain, the verified kill.
import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process'
import { constants } from 'node:os'
import type { Readable } from 'node:stream'
import type { ConfinedCommand, SandboxReport } from '@deepseek-ai/dsh-sandbox'
import { ShellError } from '../errors.ts'
import { HeadTail } from '../output.ts'
import type { KillReceipt, ShellOutputSlice, ShellProcess, ShellResult, ShellSpec, ShellStream } from '../types.ts'
import { LiveLog } from './live-log.ts'
import { ProcessTree, type CommandTree } from './process-tree.ts'
import type { ProcessEntry } from './process-table.ts'
import { WindowsTree } from './windows-tree.ts'
import { unusableWorkdir, workdirProblem } from './workdir.ts'

/** After the shell's exit, silence this long means that whoever holds the pipe has nothing to say. */
const QUIET_MS = 50

/** How long the exit of a shell that was killed may take to be reported. */
const REAP_MS = 1000

export type Argv = readonly [file: string, ...args: string[]]

/** Everything about one spawn that is not in the spec. */
export interface Launch {
  readonly argv: Argv
  /** The complete environment, the mark included. */
  readonly env: Readonly<Record<string, string>>
  /** An environment assignment that only the processes of this command have. */
  readonly mark: string
  readonly confined?: ConfinedCommand | undefined
  /** Gives back what was made for the command. Called once, when it has ended or could not be started. */
  readonly release?: (() => void) | undefined
  /** Hears of processes that left the command's group. */
  readonly onEscape?: ((entry: ProcessEntry) => void) | undefined
}

/** How much of standard error a sandbox may look at for what it refused. */
const STDERR_TAIL = 65_536

type Cause = 'exited' | 'timedOut' | 'aborted'

interface ExitStatus {
  exitCode: number | null
  signal: string | null
}

/** A command that runs. Its result rejects only when its confinement failed. */
export class Execution implements ShellProcess {
  readonly pid: number
  readonly result: Promise<ShellResult>
  readonly tree: CommandTree
  readonly #child: ChildProcess
  readonly #spec: ShellSpec
  readonly #launch: Launch
  readonly #startedAt = performance.now()
  readonly #closed: Promise<void>
  readonly #exited: Promise<void>
  readonly #stdout: HeadTail
  readonly #stderr: HeadTail
  readonly #log = new LiveLog()
  #status: ExitStatus | undefined
  #isClosed = false
  #lastOutputAt = 0
  #settle: (cause: Cause) => void = () => {}
  #detach: () => void = () => {}

  private constructor(child: ChildProcess, launch: Launch, spec: ShellSpec) {
    this.#child = child
    this.#launch = launch
    this.#spec = spec
    this.pid = child.pid!
    this.tree = treeOf(child.pid!, launch)
    this.#stdout = this.#collect('stdout', child.stdout!)
    this.#stderr = this.#collect('stderr', child.stderr!)
    this.#closed = new Promise((resolve) => {
      child.once('close', () => {
        this.#isClosed = true
        resolve()
      })
    })
    this.#exited = new Promise((resolve) => {
      child.once('exit', (exitCode, signal) => {
        this.#status = { exitCode, signal }
        this.tree.leaderEnded()
        this.#settle('exited')
        resolve()
      })
    })
    // A failed kill or send of Node's own; the tree looks after signals itself.
    child.on('error', () => {})
    this.#feed(child, spec.stdin)
    this.result = this.#run()
  }

  /** Spawns. Rejects with `ShellError` when the operating system refuses; the launch is released then. */
  static async start(launch: Launch, spec: ShellSpec): Promise<Execution> {
    let child: ChildProcess
    try {
      child = await spawned(launch, spec)
    } catch (error) {
      release(launch)
      throw error
    }
    launch.confined?.observe((child.stdio.slice(3) as (Readable | null)[]).map((stream) => stream ?? null))
    return new Execution(child, launch, spec)
  }

  read(cursor: number, maxChars?: number): ShellOutputSlice {
    return this.#log.read(cursor, maxChars)
  }

  detach(): void {
    this.#detach()
  }

  kill(): void {
    this.#settle('aborted')
  }

  async #run(): Promise<ShellResult> {
    const cause = await this.#firstCause()
    const kill = cause === 'exited' ? await this.#settled() : await this.#ended()
    this.#close()
    const stdout = this.#stdout.finish()
    const stderr = this.#stderr.finish()
    try {
      const { status, sandbox } = await this.#outcome(cause, stderr.text)
      return {
        ...status,
        timedOut: cause === 'timedOut',
        aborted: cause === 'aborted',
        timeoutMs: this.#spec.timeoutMs,
        durationMs: Math.round(performance.now() - this.#startedAt),
        stdout,
        stderr,
        workdir: this.#spec.workdir,
        ...(kill === undefined ? {} : { kill }),
        ...(sandbox === undefined ? {} : { sandbox }),
      }
    } finally {
      release(this.#launch)
    }
  }

  /** After an exit of its own: what it left running. */
  async #settled(): Promise<KillReceipt | undefined> {
    const held = !(await this.#drain())
    const survivors = await this.tree.leftBehind(held)
    return survivors === undefined ? undefined : { signal: null, ended: 0, survivors }
  }

  /** Ends the tree; the receipt says whether it worked. */
  async #ended(): Promise<KillReceipt | undefined> {
    const receipt = await this.tree.terminate(this.#spec.graceMs)
    await within(this.#exited, REAP_MS)
    const held = !(await this.#drain())
    if (held && receipt.survivors.length === 0) receipt.survivors.push(...((await this.tree.leftBehind(true)) ?? []))
    // Everything was gone before anybody was signalled.
    return receipt.signal === null && receipt.survivors.length === 0 && !held ? undefined : receipt
  }

  /** What really ended the command; a runner may hide it. Rejects when the runner failed and the command never ran. */
  async #outcome(cause: Cause, stderr: string): Promise<{ status: ExitStatus; sandbox?: SandboxReport }> {
    const status = this.#status ?? { exitCode: null, signal: null }
    const { confined } = this.#launch
    if (confined === undefined) return { status }
    try {
      const report = await confined.finish({ ...status, stderrTail: stderr.slice(-STDERR_TAIL) })
      const { exitCode, signal, ...sandbox } = report
      return { status: { exitCode, signal }, sandbox }
    } catch (error) {
      // A runner that was ended before it ran the command has not failed.
      if (cause === 'exited') throw error
      const policy = this.#spec.sandboxPolicy
      return policy === undefined ? { status } : { status, sandbox: { mode: policy.mode, network: policy.network } }
    }
  }

  #firstCause(): Promise<Cause> {
    return new Promise((resolve) => {
      const { signal, timeoutMs } = this.#spec
      const onAbort = (): void => this.#settle('aborted')
      const timer = setTimeout(() => this.#settle('timedOut'), timeoutMs)
      this.#detach = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', onAbort)
      }
      this.#settle = (cause) => {
        this.#settle = () => {}
        this.#detach()
        resolve(cause)
      }
      if (signal?.aborted === true) onAbort()
      else signal?.addEventListener('abort', onAbort, { once: true })
    })
  }

  /** Waits for the pipes to end; true when they did. Gives up after silence or after `drainMs`. */
  async #drain(): Promise<boolean> {
    if (this.#isClosed) return true
    const deadline = performance.now() + this.#spec.drainMs
    let quietSince = performance.now()
    for (;;) {
      const wait = Math.min(QUIET_MS, deadline - performance.now())
      if (await within(this.#closed, Math.max(0, wait))) return true
      // Timers run before the event loop reads: what arrived while it was busy must get its chance first.
      await new Promise<void>((resolve) => setImmediate(resolve))
      const now = performance.now()
      if (now >= deadline || this.#lastOutputAt <= quietSince) return this.#isClosed
      quietSince = now
    }
  }

  #collect(name: ShellStream, readable: Readable): HeadTail {
    const { maxOutputBytes, onOutput, spill } = this.#spec
    const kept = new HeadTail(maxOutputBytes, spill === undefined ? undefined : () => spill(name))
    const report = (text: string): void => {
      if (text !== '') onOutput?.({ stream: name, text })
    }
    readable.on('data', (chunk: Buffer) => {
      this.#lastOutputAt = performance.now()
      kept.push(chunk)
      report(this.#log.push(name, chunk, onOutput !== undefined))
    })
    readable.once('end', () => report(this.#log.end(name)))
    // A reset by the far end says no more than the exit does.
    readable.on('error', () => {})
    return kept
  }

  #feed(child: ChildProcess, stdin: string | undefined): void {
    if (child.stdin === null) return
    // EPIPE: a command need not read its input.
    child.stdin.on('error', () => {})
    child.stdin.end(stdin)
  }

  /** Gives every descriptor back, whoever still holds the other end. */
  #close(): void {
    for (const stream of this.#child.stdio.slice(0, 3)) stream?.destroy()
    // Only matters for a shell that even SIGKILL did not end: it must not keep the host alive.
    this.#child.unref()
  }
}

/** True when `promise` settles within the time. */
async function within(promise: Promise<void>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), ms)
  })
  try {
    return await Promise.race([promise.then(() => true), late])
  } finally {
    clearTimeout(timer)
  }
}

function treeOf(leader: number, { mark, confined, onEscape }: Launch): CommandTree {
  if (process.platform === 'win32') return new WindowsTree(leader)
  return new ProcessTree({ leader, mark, onEscape, confined })
}

function release(launch: Launch): void {
  launch.confined?.release()
  launch.release?.()
}

async function spawned({ argv, env, confined }: Launch, spec: ShellSpec): Promise<ChildProcess> {
  const [file, ...args] = argv
  const options: SpawnOptions = {
    cwd: spec.workdir,
    env,
    // Leads a session and a group of its own: no controlling terminal to prompt on, one number to signal. On Windows that
    // would mean no console at all, without which PowerShell cannot be told to write UTF-8.
    detached: process.platform !== 'win32',
    stdio: [spec.stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe', ...(confined?.extraStdio ?? [])],
    windowsHide: true,
  }
  let child: ChildProcess
  try {
    child = spawn(file, args, options)
  } catch (error) {
    throw spawnFailure(file, spec, error as NodeJS.ErrnoException)
  }
  if (child.pid !== undefined) return child
  throw spawnFailure(file, spec, await new Promise<NodeJS.ErrnoException>((resolve) => child.once('error', resolve)))
}

/** Linux takes no longer argument or variable, its end included. */
const MAX_ARGUMENT_BYTES = 128 * 1024

/** What the system would refuse anyway, found before anything else is done about the command. */
export function assertSpawnable({ argv, env }: Launch, spec: ShellSpec): void {
  const problem = workdirProblem(spec.workdir)
  if (problem !== undefined) throw unusableWorkdir(spec.workdir, problem)
  const words = [...argv, ...Object.entries(env).map(([name, value]) => `${name}=${value}`)]
  const hasNul = words.some((word) => word.includes('\0'))
  const isTooLong = process.platform === 'linux' && words.some((word) => Buffer.byteLength(word) >= MAX_ARGUMENT_BYTES)
  const code = hasNul ? 'ERR_INVALID_ARG_VALUE' : isTooLong ? 'E2BIG' : undefined
  if (code !== undefined) throw spawnFailure(argv[0], spec, Object.assign(new Error(code), { code }))
}

function spawnFailure(file: string, spec: ShellSpec, error: NodeJS.ErrnoException): ShellError {
  // The same code stands for a missing folder and a missing shell: look which one it is.
  const problem = workdirProblem(spec.workdir)
  if (problem !== undefined) return unusableWorkdir(spec.workdir, problem, error)
  const options = { cause: error }
  if (error.code === 'ENOENT') {
    return new ShellError(
      `shell ${JSON.stringify(file)} is gone; install it or set shellPath`,
      'SHELL_NOT_FOUND',
      options,
    )
  }
  return new ShellError(`could not start ${file}: ${remedy(spec, error)}`, 'SHELL_SPAWN_FAILED', options)
}

function remedy(spec: ShellSpec, error: NodeJS.ErrnoException): string {
  const code = error.code ?? error.message
  if (code === 'E2BIG') {
    const bytes = Buffer.byteLength(spec.command)
    return `the command (${bytes} bytes) and its environment are too long for the system (E2BIG); write the script to a file and run that`
  }
  if (code === 'ERR_INVALID_ARG_VALUE') {
    return 'the command or its environment contains a NUL character, which no program can be given; remove it'
  }
  if (code === 'EMFILE' || code === 'ENFILE')
    return `no file descriptors left (${code}); end other work or raise the limit`
  if (code === 'EAGAIN' || code === 'ENOMEM') return `no processes or memory left (${code}); end other work first`
  if (code === 'EACCES') return `it may not be executed (${code}); set shellPath to an executable shell`
  const known = error.errno !== undefined && Object.values(constants.errno).includes(-error.errno)
  return known ? `the system refused (${code})` : error.message
}
