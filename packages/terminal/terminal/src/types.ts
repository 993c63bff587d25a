// The contract of terminals: what can be opened, what a send waits for, what is kept. No behaviour lives here.
import type { ScopeKey } from '@deepseek-ai/cordis'
import type { ToolAgent } from '@deepseek-ai/dsh-tools'

export type TerminalOwner = ToolAgent & ScopeKey

export type TerminalSignal = 'SIGINT' | 'SIGTERM' | 'SIGKILL' | 'SIGTSTP' | 'SIGHUP'

export type TerminalStatus =
  | { readonly kind: 'running' }
  | { readonly kind: 'exited'; readonly exitCode: number | null; readonly signal: string | null }

/** Why a send came back. Only `exited` proves that anything ended. */
export type WaitReason =
  /** The shell shows its prompt, or the program in front is proven to wait for input. */
  | 'stdin-wait'
  /** Silent for a while; it may go on. */
  | 'idle'
  | 'timeout'
  | 'exited'
  | 'aborted'

/** A process that a close did not end. */
export interface TerminalSurvivor {
  readonly pid: number
  readonly command: string
}

/** What a close did, as it was verified. JSON. */
export interface TerminalKill {
  /** The strongest that was needed. Null: nothing was left to end. */
  readonly signal: 'SIGHUP' | 'SIGTERM' | 'SIGKILL' | null
  /** Processes that ended by it. */
  readonly ended: number
  readonly survivors: readonly TerminalSurvivor[]
}

/** A terminal as a list shows it. JSON. */
export interface TerminalRow {
  readonly id: string
  /** Which backend made it, e.g. `shell`. */
  readonly type: string
  readonly name?: string
  readonly cwd: string
  readonly pid: number
  readonly status: TerminalStatus
  readonly openedAt: number
  readonly cols: number
  readonly rows: number
  /** Who writes into it besides the model: pages that are attached. */
  readonly attached: number
}

export interface OpenRequest {
  readonly owner: TerminalOwner | undefined
  /** Default `shell`. */
  readonly type?: string
  /** Unique among the owner's open terminals. */
  readonly name?: string
  /** Absolute. Default: the owner's folder. */
  readonly cwd?: string
  /** A command line for the shell; the terminal ends with it. Omitted: the shell itself, which asks for commands. */
  readonly command?: string
  /** Added to the environment that the backend makes. */
  readonly env?: Readonly<Record<string, string>>
  readonly cols?: number
  readonly rows?: number
  readonly signal?: AbortSignal
}

export interface SendRequest {
  /** Each line is typed when somebody waits for it, with Enter. */
  readonly text: string
  /** Press Enter after it. Default true. */
  readonly submit?: boolean
  /** Milliseconds. Default: the backend's. */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

export interface SendResult {
  /** What was printed since the send, escape sequences removed, redrawn lines settled. */
  readonly text: string
  /** Output was longer than is kept or returned; the rest can be read. */
  readonly truncated: boolean
  readonly reason: WaitReason
  readonly status: TerminalStatus
  /** The program waits for input that looks like an answer to a question (a password, a confirmation), not for a command. */
  readonly prompt?: TerminalPrompt
  /** Lines that were not typed: the wait for the one before them ended otherwise, or the program asks for something hidden. */
  readonly untyped?: string
}

export interface TerminalPrompt {
  /** The line the cursor stands on; where that is blank, the one above that asks. */
  readonly text: string
  /** The terminal does not echo what is typed: a password. */
  readonly hidden: boolean
}

/** Lines of the scrollback, as plain text. Line 0 is the oldest that is kept. */
export interface ReadResult {
  readonly text: string
  readonly totalLines: number
  readonly lineBegin: number
  readonly lineEnd: number
  /** Lines before line 0 were dropped. */
  readonly truncated: boolean
}

/** One open terminal of a backend. */
export interface Terminal {
  readonly id: string
  readonly row: TerminalRow
  /** One send at a time: a second one rejects with `TERMINAL_BUSY`. */
  send(request: SendRequest): Promise<SendResult>
  /**
   * Raw keys from a person or an answer to a prompt; no waiting, nothing logged. Throws `TERMINAL_EXITED`. What the terminal echoes of a `secret` is
   * masked in everything that is read as text; a page that is attached sees the screen as it is.
   */
  write(data: string, options?: { readonly secret?: boolean }): void
  /** `offset` counts from the newest line. */
  read(range?: { offset?: number; count?: number }): ReadResult
  /** To the group in front. Throws `TERMINAL_EXITED`. */
  signal(signal: TerminalSignal): void
  /** Ignored once it has ended. */
  resize(cols: number, rows: number): void
  /** The screen with its escape sequences, for a page that attaches: draw this, then what `onData` gives. */
  snapshot(): string
  onData(listener: (data: string) => void): () => void
  onExit(listener: (status: TerminalStatus) => void): () => void
  /** The program in front began to wait for an answer: told once a prompt. `undefined`: it waits no more, whoever answered. */
  onPrompt(listener: (prompt: TerminalPrompt | undefined) => void): () => void
  /** Ends everything in it and waits until that is verified. */
  close(): Promise<TerminalKill>
}

export interface TerminalBackend {
  readonly type: string
  /** Rejects with `TERMINAL_SPAWN_FAILED` or a coded error of confinement. */
  spawn(request: OpenRequest & { readonly id: string; readonly cwd: string }): Promise<Terminal>
}

/** `ctx.terminals` */
export interface TerminalService {
  registerBackend(backend: TerminalBackend): () => void
  /** Rejects with `TERMINAL_NO_BACKEND`, `TERMINAL_DUPLICATE_NAME`, `TERMINAL_LIMIT`, `TERMINALS_DISPOSED`, and what the backend says. */
  open(request: OpenRequest): Promise<Terminal>
  /** By id or name, among the owner's own. Throws `TERMINAL_NOT_FOUND`. */
  get(owner: TerminalOwner | undefined, idOrName: string): Terminal
  list(owner: TerminalOwner | undefined): TerminalRow[]
  /** Closes one; its row is gone afterwards. */
  close(owner: TerminalOwner | undefined, idOrName: string): Promise<TerminalKill>
  /** Counts a page in for as long as it is attached. */
  attach(owner: TerminalOwner | undefined, idOrName: string): () => void
  subscribe(listener: (owner: TerminalOwner | undefined) => void): () => void
}
