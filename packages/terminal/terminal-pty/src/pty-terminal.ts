// One open terminal: a program on a pseudo terminal, its screen, and who listens to it. What a send waits for is the business of its sends.
import { constants } from 'node:os'
import { errorMessage } from '@deepseek-ai/cordis'
import {
  TerminalError,
  type ReadResult,
  type SendRequest,
  type SendResult,
  type Terminal,
  type TerminalKill,
  type TerminalPrompt,
  type TerminalRow,
  type TerminalSignal,
  type TerminalStatus,
} from '@deepseek-ai/dsh-terminal'
import type { TerminalPtyConfig } from './config.ts'
import type { Ending } from './ending.ts'
import { foregroundOf, type Foreground } from './foreground.ts'
import { InputWatch } from './input-watch.ts'
import { lineDiscipline } from './line-discipline.ts'
import { entered, told } from './listeners.ts'
import type { PtyProcess } from './pty-process.ts'
import { Screen } from './screen.ts'
import { Secrets } from './secrets.ts'
import { Sends } from './sends.ts'
import { endOf } from './text-end.ts'

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
  readonly #sends: Sends
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
  #closing: Promise<TerminalKill> | undefined

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
      options.onTrouble,
    )
    this.#sends = this.#makeSends()
    pty.listen(
      (text) => this.#onOutput(text),
      () => this.#onActivity('typed'),
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
  ready(timeoutMs: number): Promise<void> {
    return this.#sends.ready(timeoutMs)
  }

  /** The end of what it printed. */
  tail(): string {
    return endOf(this.#screen.lines().join('\n'), TAIL_BYTES).text
  }

  send(request: SendRequest): Promise<SendResult> {
    return this.#sends.send(request)
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
    const { text, lines: given } = endOf(this.#secrets.mask(wanted.join('\n')), this.#options.config.maxReadBytes)
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
    this.#onActivity('typed')
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
    return entered(this.#dataListeners, listener)
  }

  onExit(listener: (status: TerminalStatus) => void): () => void {
    return entered(this.#exitListeners, listener)
  }

  onPrompt(listener: (prompt: TerminalPrompt | undefined) => void): () => void {
    return this.#watch.onPrompt(listener)
  }

  close(): Promise<TerminalKill> {
    return (this.#closing ??= this.#close())
  }

  async #close(): Promise<TerminalKill> {
    const kill = await this.#options.ending.end()
    // Who is left may hold the terminal; it is let go of all the same.
    this.#pty.destroy()
    await this.ended
    this.#screen.dispose()
    this.#options.onClosed()
    return kill
  }

  #makeSends(): Sends {
    const { id, config, admit } = this.#options
    const status = (): TerminalStatus => this.#status
    return new Sends({
      id,
      config,
      screen: this.#screen,
      watch: this.#watch,
      get status() {
        return status()
      },
      assertRunning: () => this.#assertRunning(),
      admit,
      type: (keys) => this.#type(keys),
      mask: (text) => this.#secrets.mask(text),
      onActivity: (listener) => entered(this.#activity, listener),
      onExit: (listener) => this.onExit(listener),
    })
  }

  async #follow(): Promise<void> {
    const exit = await this.#pty.exited
    this.#options.ending.leaderEnded()
    const status: TerminalStatus = { kind: 'exited', ...exit }
    this.#status = status
    this.#watch.end()
    told(this.#exitListeners, [status], this.#options.onTrouble)
  }

  #onOutput(text: string): void {
    this.#onActivity('printed')
    this.#screen.feed(text)
    if (this.#screen.prompts > this.#prompts) {
      this.#prompts = this.#screen.prompts
      this.#shellGroup ??= this.#foreground.group()
      this.#watch.activity('prompt')
    }
    told(this.#dataListeners, [text], this.#options.onTrouble)
  }

  #onActivity(what: 'printed' | 'typed'): void {
    this.#watch.activity(what)
    for (const listener of this.#activity) listener()
  }

  /** A page that is attached answers the questions of programs itself: it is the terminal that the person looks at. */
  #onReply(reply: string): void {
    if (this.#dataListeners.size === 0 && this.#status.kind === 'running') this.#pty.write(reply)
  }

  #type(keys: string): void {
    if (keys === '') return
    if (keys.includes('\r')) this.#screen.lineTyped()
    this.#watch.typed(keys)
    this.#pty.write(keys)
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
