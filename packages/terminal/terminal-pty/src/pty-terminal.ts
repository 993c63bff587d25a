// One open terminal: a program on a pseudo terminal, its screen, and the sends that wait for it.
import { constants } from 'node:os'
import { MAX_DELAY_MS, errorMessage } from '@deepseek-ai/cordis'
import {
  TerminalError,
  type ReadResult,
  type SendRequest,
  type SendResult,
  type Terminal,
  type TerminalPrompt,
  type TerminalRow,
  type TerminalSignal,
  type TerminalStatus,
  type TerminalSurvivor,
  type WaitReason,
} from '@deepseek-ai/dsh-terminal'
import type { TerminalPtyConfig } from './config.ts'
import type { Ending } from './ending.ts'
import { foregroundOf, type Foreground } from './foreground.ts'
import { InputWatch, type Waiting } from './input-watch.ts'
import { lineDiscipline } from './line-discipline.ts'
import type { PtyProcess } from './pty-process.ts'
import { Screen } from './screen.ts'
import { Secrets } from './secrets.ts'

export interface PtyTerminalOptions {
  readonly id: string
  readonly name: string | undefined
  readonly type: string
  readonly cwd: string
  readonly cols: number
  readonly rows: number
  readonly config: TerminalPtyConfig
  readonly ending: Ending
  /** Rejects when nothing may be run in it any more. */
  readonly admit: () => Promise<void>
  readonly onClosed: () => void
  readonly onTrouble: (message: string) => void
}

interface Settled {
  readonly reason: WaitReason
  readonly prompt?: TerminalPrompt | undefined
  readonly untyped?: readonly string[]
}

interface Limits {
  /** On the clock of `performance.now()`. */
  readonly deadline: number
  readonly idleMs: number
  readonly signal: AbortSignal | undefined
}

/** Keys that the terminal itself turns into a signal: for a program of another user, whom we may not signal. */
const SIGNAL_KEYS: Readonly<Partial<Record<TerminalSignal, string>>> = { SIGINT: '\x03', SIGTSTP: '\x1a' }

const TAIL_BYTES = 65_536

export class PtyTerminal implements Terminal {
  readonly id: string
  /** The program has ended, whatever still holds its terminal. */
  readonly ended: Promise<void>
  readonly #pty: PtyProcess
  readonly #screen: Screen
  readonly #options: PtyTerminalOptions
  readonly #foreground: Foreground
  readonly #watch: InputWatch
  readonly #secrets = new Secrets()
  readonly #openedAt = Date.now()
  readonly #dataListeners = new Set<(data: string) => void>()
  readonly #exitListeners = new Set<(status: TerminalStatus) => void>()
  readonly #activity = new Set<() => void>()
  #status: TerminalStatus = { kind: 'running' }
  #cols: number
  #rows: number
  /** The group of the shell itself, once it has shown a prompt. */
  #shellGroup: number | undefined
  #prompts = 0
  #sending = false
  #closing: Promise<{ readonly survivors: readonly TerminalSurvivor[] }> | undefined

  private constructor(pty: PtyProcess, screen: Screen, options: PtyTerminalOptions) {
    this.id = options.id
    this.#pty = pty
    this.#screen = screen
    this.#options = options
    this.#cols = options.cols
    this.#rows = options.rows
    this.#foreground = foregroundOf(pty.pid, pty.device)
    this.#watch = new InputWatch(
      {
        get atPrompt() {
          return screen.atPrompt
        },
        wait: () => this.#foreground.wait(),
        discipline: () => lineDiscipline(pty.device),
        question: () => this.#secrets.mask(screen.transcript.question()),
        get settled() {
          return pty.allTyped
        },
      },
      options.config,
    )
    pty.listen(
      (text) => this.#onOutput(text),
      () => this.#onActivity(),
    )
    this.ended = this.#follow()
  }

  static async open(pty: PtyProcess, options: PtyTerminalOptions): Promise<PtyTerminal> {
    const { cols, rows, config } = options
    const { scrollbackLines, scrollbackMaxBytes } = config
    // Nothing that the screen tells of can happen before it is fed.
    let terminal: PtyTerminal | undefined
    const screen = await Screen.create(
      { cols, rows, scrollbackLines, scrollbackMaxBytes },
      {
        onReply: (reply) => (terminal === undefined ? undefined : terminal.#onReply(reply)),
        onLost: (error) => options.onTrouble(`what a program printed could not be drawn: ${errorMessage(error)}`),
      },
    )
    terminal = new PtyTerminal(pty, screen, options)
    return terminal
  }

  get row(): TerminalRow {
    const { id, type, name, cwd } = this.#options
    return {
      id,
      type,
      cwd,
      pid: this.#pty.pid,
      status: this.#status,
      openedAt: this.#openedAt,
      cols: this.#cols,
      rows: this.#rows,
      attached: 0,
      ...(name === undefined ? {} : { name }),
    }
  }

  /** Resolves once the shell has shown its first prompt or the program has ended, at the latest after `timeoutMs`. */
  async ready(timeoutMs: number): Promise<void> {
    await this.#settle({ deadline: performance.now() + timeoutMs, idleMs: MAX_DELAY_MS, signal: undefined })
  }

  /** The end of what it printed. */
  tail(): string {
    return newest(this.#screen.lines().join('\n'), TAIL_BYTES).text
  }

  async send(request: SendRequest): Promise<SendResult> {
    const { config, admit } = this.#options
    const limits: Limits = {
      deadline: performance.now() + timeoutOf(request.timeoutMs ?? config.timeoutMs),
      idleMs: config.idleSilenceMs,
      signal: request.signal,
    }
    if (this.#sending) throw busy(this.id)
    this.#sending = true
    try {
      const lines = keysOf(request)
      if (lines.length > 0) {
        this.#assertRunning()
        await admit()
        this.#assertRunning()
        if (request.signal?.aborted !== true) this.#screen.transcript.begin()
      }
      return this.#result(await this.#typeAll(lines, limits))
    } finally {
      this.#sending = false
    }
  }

  write(data: string, options: { readonly secret?: boolean } = {}): void {
    this.#assertRunning()
    if (options.secret === true) this.#secrets.add(data)
    this.#type(data)
  }

  read({ offset = 0, count = Number.MAX_SAFE_INTEGER }: { offset?: number; count?: number } = {}): ReadResult {
    const lines = this.#screen.lines()
    const lineEnd = Math.max(0, lines.length - Math.max(0, offset))
    const wanted = lines.slice(Math.max(0, lineEnd - Math.max(0, count)), lineEnd)
    const { text, lines: given } = newest(this.#secrets.mask(wanted.join('\n')), this.#options.config.maxReadBytes)
    const lineBegin = wanted.length === 0 ? lineEnd : lineEnd - given
    return { text, totalLines: lines.length, lineBegin, lineEnd, truncated: this.#screen.isFull }
  }

  signal(signal: TerminalSignal): void {
    this.#assertRunning()
    const group = this.#foreground.group()
    if (signal === 'SIGKILL' && group !== undefined && group === this.#shellGroup) {
      throw new TerminalError('the shell itself is in front; close the terminal to end it', 'TERMINAL_INVALID_REQUEST')
    }
    try {
      process.kill(group === undefined ? this.#pty.pid : -group, signal)
    } catch (error) {
      this.#notSignalled(signal, error)
    }
    this.#onActivity()
  }

  resize(cols: number, rows: number): void {
    const fits = [cols, rows].every((each) => Number.isInteger(each) && each > 0 && each <= 1000)
    if (!fits) {
      throw new TerminalError(
        `a terminal of ${cols} by ${rows} cannot be; each is a whole number from 1 to 1000`,
        'TERMINAL_INVALID_REQUEST',
      )
    }
    if (this.#status.kind === 'exited') return
    this.#cols = cols
    this.#rows = rows
    this.#screen.resize(cols, rows)
    this.#pty.resize(cols, rows)
  }

  snapshot(): string {
    return this.#screen.draw()
  }

  onData(listener: (data: string) => void): () => void {
    return entered(this.#dataListeners, (data) => listener(data))
  }

  onExit(listener: (status: TerminalStatus) => void): () => void {
    return entered(this.#exitListeners, (status) => listener(status))
  }

  onPrompt(listener: (prompt: TerminalPrompt | undefined) => void): () => void {
    return this.#watch.onPrompt(listener)
  }

  close(): Promise<{ readonly survivors: readonly TerminalSurvivor[] }> {
    return (this.#closing ??= this.#close())
  }

  async #close(): Promise<{ readonly survivors: readonly TerminalSurvivor[] }> {
    const survivors = await this.#options.ending.end()
    // Who is left may hold the terminal; it is let go of all the same.
    this.#pty.destroy()
    await this.ended
    this.#screen.dispose()
    this.#options.onClosed()
    return { survivors }
  }

  async #follow(): Promise<void> {
    const exit = await this.#pty.exited
    this.#options.ending.leaderEnded()
    const status: TerminalStatus = { kind: 'exited', ...exit }
    this.#status = status
    this.#watch.end()
    for (const listener of this.#exitListeners) listener(status)
  }

  #onOutput(text: string): void {
    this.#onActivity()
    this.#screen.feed(text)
    if (this.#screen.prompts > this.#prompts) {
      this.#prompts = this.#screen.prompts
      this.#shellGroup ??= this.#foreground.group()
      this.#watch.activity(true)
    }
    for (const listener of this.#dataListeners) listener(text)
  }

  #onActivity(): void {
    this.#watch.activity()
    for (const listener of this.#activity) listener()
  }

  /** A page that is attached answers the questions of programs itself: it is the terminal that the person looks at. */
  #onReply(reply: string): void {
    if (this.#dataListeners.size === 0 && this.#status.kind === 'running') this.#pty.write(reply)
  }

  /**
   * A line at a time, each when somebody waits for it. Note: what a line editor has not yet taken of several lines is handed to the command that it
   * starts as one piece, and most of that is lost. Nothing but the first line is typed where the answer is hidden.
   */
  async #typeAll(lines: readonly string[], limits: Limits): Promise<Settled> {
    for (const [at, line] of lines.entries()) {
      if (limits.signal?.aborted === true) return { reason: 'aborted', untyped: lines.slice(at) }
      this.#type(line)
      if (at === lines.length - 1) break
      const settled = await this.#settle({ ...limits, idleMs: MAX_DELAY_MS }, true)
      if (settled.reason === 'stdin-wait' && settled.prompt?.hidden !== true) continue
      return { ...settled, untyped: lines.slice(at + 1) }
    }
    return this.#settle(limits)
  }

  #type(keys: string): void {
    if (keys === '') return
    this.#watch.typed(keys)
    this.#pty.write(keys)
  }

  /** The first of what may end a send. */
  #settle({ deadline, idleMs, signal }: Limits, eager = false): Promise<Settled> {
    if (this.#status.kind === 'exited') return Promise.resolve({ reason: 'exited' })
    if (signal?.aborted === true) return Promise.resolve({ reason: 'aborted' })
    return new Promise((resolve) => {
      const leave: (() => void)[] = []
      const end = (settled: Settled): void => {
        leave.splice(0).forEach((each) => each())
        resolve(settled)
      }
      const late = setTimeout(end, deadline - performance.now(), { reason: 'timeout' })
      const silent = setTimeout(end, idleMs, { reason: 'idle' })
      const onAbort = (): void => end({ reason: 'aborted' })
      signal?.addEventListener('abort', onAbort)
      leave.push(
        () => [late, silent].forEach(clearTimeout),
        () => signal?.removeEventListener('abort', onAbort),
        entered(this.#activity, () => void silent.refresh()),
        this.onExit(() => end({ reason: 'exited' })),
        this.#watch.follow((waiting) => end({ reason: 'stdin-wait', prompt: promptOf(waiting) }), eager),
      )
    })
  }

  #result({ reason, prompt, untyped = [] }: Settled): SendResult {
    const since = this.#screen.transcript.since()
    // What was told once is not told again.
    this.#screen.transcript.begin()
    const { text, isCut } = newest(this.#secrets.mask(since.text), this.#options.config.maxReadBytes)
    return {
      text,
      truncated: since.truncated || isCut,
      reason,
      status: this.#status,
      ...(prompt === undefined ? {} : { prompt }),
      ...(untyped.length === 0 ? {} : { untyped: untyped.join('').replaceAll('\r', '\n') }),
    }
  }

  #assertRunning(): void {
    if (this.#status.kind === 'running' && this.#closing === undefined) return
    throw new TerminalError(`the program of ${this.id} has ended; open another terminal`, 'TERMINAL_EXITED')
  }

  #notSignalled(signal: TerminalSignal, error: unknown): void {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ESRCH') return // it has just ended
    const key = SIGNAL_KEYS[signal]
    if (code === 'EPERM' && key !== undefined) this.#type(key)
    else {
      const number = constants.signals[signal]
      throw new TerminalError(
        `the program in front takes no ${signal} (${number}) from this user: ${code}; close the terminal to end what may be ended`,
        'TERMINAL_INVALID_REQUEST',
        { cause: error },
      )
    }
  }
}

/** What is typed, a line with its Enter at a time. A text that ends with a line break needs no Enter more. */
function keysOf({ text, submit = true }: SendRequest): string[] {
  const typed = text.replaceAll(/\r\n?|\n/g, '\r')
  const keys = submit && !typed.endsWith('\r') ? `${typed}\r` : typed
  return keys.match(/[^\r]*\r|[^\r]+$/g) ?? []
}

function promptOf(waiting: Waiting): TerminalPrompt | undefined {
  return waiting.kind === 'program' ? waiting.prompt : undefined
}

/** The end of a text that fits, in whole lines where there are several. */
function newest(text: string, maxBytes: number): { text: string; lines: number; isCut: boolean } {
  const lines = (each: string): number => each.split('\n').length
  if (Buffer.byteLength(text) <= maxBytes) return { text, lines: lines(text), isCut: false }
  const end = Buffer.from(text).subarray(-maxBytes)
  // The cut may lie inside a character.
  let from = 0
  while (from < end.length && ((end[from] ?? 0) & 0xc0) === 0x80) from++
  const cut = end.subarray(from).toString()
  const rest = cut.slice(cut.indexOf('\n') + 1)
  // A line that is most of it is better than nothing.
  const whole = rest.length > cut.length / 2 ? rest : cut
  return { text: whole, lines: lines(whole), isCut: true }
}

function timeoutOf(milliseconds: number): number {
  if (milliseconds > 0) return Math.min(milliseconds, MAX_DELAY_MS)
  throw new TerminalError(
    `timeoutMs is ${milliseconds}; expected a positive number of milliseconds`,
    'TERMINAL_INVALID_REQUEST',
  )
}

function busy(id: string): TerminalError {
  return new TerminalError(`another send is waiting in ${id}; wait for it to come back`, 'TERMINAL_BUSY')
}

/** A function of its own lets the same listener be entered twice and leave once. */
function entered<Listener>(listeners: Set<Listener>, entry: Listener): () => void {
  listeners.add(entry)
  return () => void listeners.delete(entry)
}
