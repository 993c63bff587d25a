// One program on a pseudo terminal, held by a small process of its own.
// The holder is there because the master side of a pseudo terminal is inherited by everything that its process starts: held by this process,
// each command that runs confined would get a handle to type into the terminals of others.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync, readFileSync, readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { constants } from 'node:os'
import type { Readable, Writable } from 'node:stream'
import { errorMessage } from '@deepseek-ai/cordis'
import { TerminalError } from '@deepseek-ai/dsh-terminal'

export interface PtyRequest {
  readonly file: string
  readonly args: readonly string[]
  readonly cwd: string
  /** Complete. */
  readonly env: Readonly<Record<string, string>>
  readonly cols: number
  readonly rows: number
}

export interface PtyExit {
  readonly exitCode: number | null
  readonly signal: string | null
}

interface Started {
  readonly pid: number
  /** The device, e.g. `/dev/pts/3`. */
  readonly device: string
}

type FromHolder =
  | ({ kind: 'started' } & Started)
  | { kind: 'typed'; bytes: number }
  | { kind: 'exit'; exitCode: number; signal?: number }

/** How long the holder may take to say that it has started the program. */
const START_MS = 15_000

const CLOSE_ON_EXEC = 0o2000000
/** After standard streams and messages. */
const FIRST_COVERED = 4
/** Covering a higher one would cost a descriptor for each number below. */
const MOST_COVERED = 255

/**
 * argv[1]: node-pty. Keys come in on standard input, what is printed goes out on standard output, in bytes; the rest is messages.
 * Standard input ends with the host: then the holder goes, the master side is closed, and the kernel hangs up on the session.
 */
const HOLDER = `
process.once('message', ({ file, args, cwd, env, cols, rows }) => {
  const pty = require(process.argv[1]).spawn(file, args, { cwd, env, cols, rows, encoding: null })
  const tell = (message) => process.connected && process.send(message, () => {})
  let open = true
  tell({ kind: 'started', pid: pty.pid, device: pty.ptsName })
  let last = 0
  pty.onData((bytes) => {
    last = performance.now()
    if (process.stdout.write(bytes)) return
    pty.pause()
    process.stdout.once('drain', () => pty.resume())
  })
  // After a hang-up libuv takes a short read for the last one, and reads of a pseudo terminal are always short: what is left is read here.
  const readRest = () => {
    const bytes = Buffer.alloc(65536)
    try {
      for (let reads = 0; reads < 1000; reads++) {
        const length = require('node:fs').readSync(pty._fd, bytes)
        if (length === 0) return
        process.stdout.write(Buffer.from(bytes.subarray(0, length)))
      }
    } catch {
      // EIO: that was all. EAGAIN: somebody else holds the terminal.
    }
  }
  // node-pty lets go of the terminal 200 ms after the program's end, and a failed read drops what was read before: the end of a long output.
  const socket = pty._socket
  const destroy = socket.destroy
  let tries = 0
  socket.destroy = (error) => {
    const unread = socket.isPaused() || performance.now() - last < 100
    if (!error && !socket.readableEnded && unread && tries++ < 100) {
      setTimeout(() => socket.destroy(), 100)
      return socket
    }
    if (!socket.destroyed) {
      while (socket.read() !== null);
      readRest()
    }
    return destroy.call(socket, error)
  }
  process.on('message', ({ cols, rows }) => {
    if (open) try { pty.resize(cols, rows) } catch {}
  })
  process.stdin.on('data', (bytes) => {
    if (open) pty.write(bytes)
    tell({ kind: 'typed', bytes: bytes.length })
  })
  pty.onExit(({ exitCode, signal }) => {
    open = false
    process.stdout.end(() => process.send({ kind: 'exit', exitCode, signal }, () => process.exit()))
  })
})
process.stdin.on('end', () => process.exit())
process.stdout.on('error', () => process.exit())
`

export class PtyProcess {
  readonly pid: number
  readonly device: string
  /** The program has ended and everything it printed has been told. Never rejects. */
  readonly exited: Promise<PtyExit>
  readonly #holder: ChildProcess
  readonly #output: Readable
  readonly #input: Writable
  /** Bytes that have not yet reached the terminal. */
  #untyped = 0
  #onTyped: () => void = () => {}

  private constructor(holder: ChildProcess, { pid, device }: Started) {
    this.pid = pid
    this.device = device
    this.#holder = holder
    this.#output = holder.stdout!
    this.#input = holder.stdin!
    this.exited = this.#end()
    holder.on('message', (message: FromHolder) => {
      if (message.kind !== 'typed') return
      this.#untyped -= message.bytes
      this.#onTyped()
    })
  }

  /** Rejects with `TERMINAL_SPAWN_FAILED`. */
  static async start(request: PtyRequest): Promise<PtyProcess> {
    let holder: ChildProcess | undefined
    try {
      holder = hold()
      const started = startedBy(holder)
      holder.send(request)
      return new PtyProcess(holder, await started)
    } catch (error) {
      holder?.kill('SIGKILL')
      throw failed(errorMessage(error), error)
    }
  }

  /** All that was written has reached the terminal. */
  get allTyped(): boolean {
    return this.#untyped === 0
  }

  listen(onOutput: (text: string) => void, onTyped: () => void): void {
    this.#onTyped = onTyped
    this.#output.on('data', onOutput)
  }

  write(data: string): void {
    if (data === '' || !this.#input.writable) return
    this.#untyped += Buffer.byteLength(data)
    this.#input.write(data)
  }

  resize(cols: number, rows: number): void {
    // It may have ended a moment ago.
    if (this.#holder.connected) this.#holder.send({ cols, rows }, () => {})
  }

  /** Lets go of the terminal, whatever runs in it. The kernel hangs up on its session. */
  destroy(): void {
    this.#holder.kill('SIGKILL')
    this.#output.destroy()
  }

  async #end(): Promise<PtyExit> {
    const holder = this.#holder
    let exit: PtyExit = { exitCode: null, signal: null }
    holder.on('message', (message: FromHolder) => {
      if (message.kind === 'exit') exit = { exitCode: exitCodeOf(message), signal: signalName(message.signal) }
    })
    // Not 'exit': what the holder said last may be read after it.
    const silent = holder.connected ? once(holder, 'disconnect') : Promise.resolve()
    await Promise.all([once(this.#output, 'close'), silent])
    return exit
  }
}

function hold(): ChildProcess {
  const nodePty = createRequire(import.meta.url).resolve('@lydell/node-pty')
  const nothing = openSync('/dev/null', 'r')
  try {
    const holder = spawn(process.execPath, ['-e', HOLDER, nodePty], {
      stdio: ['pipe', 'pipe', 'pipe', 'ipc', ...covers(nothing)],
      // A folder that stays, a session that no signal of the host's own terminal reaches, and none of the host's secrets.
      cwd: '/',
      detached: true,
      env: {},
    })
    // A failed kill or send; its end is what counts.
    holder.on('error', () => {})
    // Keys typed into a program that has just ended.
    holder.stdin?.on('error', () => {})
    holder.stdout?.setEncoding('utf8')
    return holder
  } finally {
    closeSync(nothing)
  }
}

/**
 * Descriptors that this process was started with are handed on to everything: files of whoever started it. Here each gets an empty one in its
 * place, which Node then closes for what the holder starts.
 */
function covers(nothing: number): number[] {
  const last = Math.max(FIRST_COVERED - 1, ...inherited())
  return Array.from({ length: last - FIRST_COVERED + 1 }, () => nothing)
}

/** Node opens everything close-on-exec, so what is not so was there before. */
function inherited(folder = '/proc/self/fdinfo'): number[] {
  if (!existsSync(folder)) return []
  const numbers = readdirSync(folder).map(Number)
  return numbers.filter((each) => each <= MOST_COVERED && passesOn(`${folder}/${each}`))
}

function passesOn(file: string): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)/m.exec(readFileSync(file, 'utf8'))?.[1]
    return flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0
  } catch {
    return false // closed meanwhile: the one that listed the folder
  }
}

function startedBy(holder: ChildProcess): Promise<Started> {
  let said = ''
  holder.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said = `${said}${text}`.slice(-2000)
  })
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`it did not start within ${START_MS} ms`)), START_MS)
    holder.once('error', reject)
    holder.once('exit', (code, signal) => {
      clearTimeout(late)
      reject(new Error(said.trim() || `the process that holds it ended with ${signal ?? code}`))
    })
    holder.on('message', (message: FromHolder) => {
      if (message.kind !== 'started') return
      clearTimeout(late)
      resolve(message)
    })
  })
}

function exitCodeOf({ exitCode, signal }: { exitCode: number; signal?: number }): number | null {
  return signal === undefined || signal === 0 ? exitCode : null
}

function signalName(number: number | undefined): string | null {
  if (number === undefined || number === 0) return null
  return Object.entries(constants.signals).find(([, each]) => each === number)?.[0] ?? `signal ${number}`
}

export function failed(why: string, cause?: unknown): TerminalError {
  const options = cause === undefined ? {} : { cause }
  return new TerminalError(`the terminal could not be opened: ${why}`, 'TERMINAL_SPAWN_FAILED', options)
}
