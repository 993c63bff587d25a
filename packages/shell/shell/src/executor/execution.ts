// One command from spawn to result: streams, the first cause that ends it, the drain, the verified kill.
import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { constants } from 'node:os'
import type { Readable } from 'node:stream'
import { ShellError } from '../errors.ts'
import { HeadTail } from '../output.ts'
import type { KillReceipt, ShellOutputSlice, ShellProcess, ShellResult, ShellSpec, ShellStream } from '../types.ts'
import { LiveLog } from './live-log.ts'
import { ProcessTree } from './process-tree.ts'
import { unusableWorkdir, workdirProblem } from './workdir.ts'

/** Marks every process of a call. Inherited, so that one that left group and session is still found. */
const CALL_MARK = 'DSH_CALL_ID'

/** After the shell's exit, silence this long means that whoever holds the pipe has nothing to say. */
const QUIET_MS = 50

/** How long the exit of a shell that was killed may take to be reported. */
const REAP_MS = 1000

export type Argv = readonly [file: string, ...args: string[]]

type Cause = 'exited' | 'timedOut' | 'aborted'

interface ExitStatus {
  exitCode: number | null
  signal: string | null
}

interface Stream {
  readonly name: ShellStream
  readonly kept: HeadTail
}

/** A command that runs. Constructing it spawns; `result` never rejects. */
export class Execution implements ShellProcess {
  readonly pid: number
  readonly result: Promise<ShellResult>
  readonly tree: ProcessTree
  readonly #child: ChildProcess
  readonly #spec: ShellSpec
  readonly #startedAt = performance.now()
  readonly #closed: Promise<void>
  readonly #exited: Promise<void>
  readonly #streams: readonly [Stream, Stream]
  readonly #log = new LiveLog()
  #status: ExitStatus | undefined
  #isClosed = false
  #lastOutputAt = 0
  #settle: (cause: Cause) => void = () => {}
  #detach: () => void = () => {}

  private constructor(child: ChildProcess, mark: string, spec: ShellSpec) {
    this.#child = child
    this.#spec = spec
    this.pid = child.pid!
    this.tree = new ProcessTree(child.pid!, mark)
    this.#streams = [this.#collect('stdout', child.stdout!), this.#collect('stderr', child.stderr!)]
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

  /** Spawns. Rejects with `ShellError` when the operating system refuses. */
  static async start(argv: Argv, spec: ShellSpec): Promise<Execution> {
    const id = randomUUID()
    const child = await launch(argv, spec, { ...spec.env, [CALL_MARK]: id })
    return new Execution(child, `${CALL_MARK}=${id}`, spec)
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
    let kill: KillReceipt | undefined
    if (cause === 'exited') {
      const held = !(await this.#drain())
      const survivors = await this.tree.leftBehind(held)
      if (survivors !== undefined) kill = { signal: null, ended: 0, survivors }
    } else {
      kill = await this.tree.terminate(this.#spec.graceMs)
      await within(this.#exited, REAP_MS)
      await this.#drain()
    }
    this.#release()
    const status = this.#status ?? { exitCode: null, signal: null }
    return {
      ...status,
      timedOut: cause === 'timedOut',
      aborted: cause === 'aborted',
      timeoutMs: this.#spec.timeoutMs,
      durationMs: Math.round(performance.now() - this.#startedAt),
      stdout: this.#streams[0].kept.finish(),
      stderr: this.#streams[1].kept.finish(),
      workdir: this.#spec.workdir,
      ...(kill === undefined ? {} : { kill }),
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

  #collect(name: ShellStream, readable: Readable): Stream {
    const kept = new HeadTail(this.#spec.maxOutputBytes)
    const { onOutput } = this.#spec
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
    return { name, kept }
  }

  #feed(child: ChildProcess, stdin: string | undefined): void {
    if (child.stdin === null) return
    // EPIPE: a command need not read its input.
    child.stdin.on('error', () => {})
    child.stdin.end(stdin)
  }

  /** Gives every descriptor back, whoever still holds the other end. */
  #release(): void {
    this.#child.stdin?.destroy()
    this.#child.stdout?.destroy()
    this.#child.stderr?.destroy()
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

async function launch(argv: Argv, spec: ShellSpec, env: Record<string, string>): Promise<ChildProcess> {
  const [file, ...args] = argv
  const options: SpawnOptions = {
    cwd: spec.workdir,
    env,
    // Leads a session and a group of its own: no controlling terminal to prompt on, one number to signal.
    detached: true,
    stdio: [spec.stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
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
