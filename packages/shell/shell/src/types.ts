// The contract of shells: what a caller asks, what the provider resolves it to, what comes back. No behaviour lives here.
import type { SandboxPolicy, SandboxReport } from '@deepseek-ai/dsh-sandbox'

export interface ShellRequest {
  command: string
  /** The folder that must be used: absolute, or relative to `cwd`. A missing one is an error. Omitted: `cwd`. */
  workdir?: string
  /** The caller's own folder, absolute. When it is gone, its nearest existing parent stands in. Omitted: the provider's default. */
  cwd?: string
  /** Milliseconds. Omitted: the provider's default; capped by its maximum. */
  timeoutMs?: number
  /** Added on top of the scrubbed environment; what is named here reaches the child even when it looks like a secret. */
  env?: Record<string, string>
  /** Written to standard input, which is then closed. Omitted: standard input is at its end from the start. */
  stdin?: string
  signal?: AbortSignal
  /** Live output in order of arrival, decoded. Contract: must not throw. */
  onOutput?: (chunk: { stream: ShellStream; text: string }) => void
  /** Confine the command so. A provider that confines nothing refuses it. Omitted: the provider's default for no session. */
  sandboxPolicy?: SandboxPolicy
  /**
   * Opens the file for a stream that outgrows memory: asked at most once a stream, then fed every byte from the first on. Omitted, or a throw:
   * the middle of a long stream is lost, and the result says so.
   */
  spill?: (stream: ShellStream) => ShellSpillFile
}

export type ShellStream = 'stdout' | 'stderr'

/** Where the bytes of a long stream go. Contract: must not throw; what does not fit is dropped and told by `finish`. */
export interface ShellSpillFile {
  readonly path: string
  write(chunk: Uint8Array): void
  /** Closes the file. `complete` is false when a quota or a full disk cut it. */
  finish(): { readonly path: string; readonly bytes: number; readonly complete: boolean }
}

/** A request with every default and cap applied: what runs is exactly this. */
export interface ShellSpec extends ShellRequest {
  workdir: string
  timeoutMs: number
  env: Record<string, string>
  /** Bytes kept of each stream, half from the head and half from the tail. */
  maxOutputBytes: number
  /** How long after the shell's exit its pipes may stay open, in milliseconds. */
  drainMs: number
  /** Between the polite signal and the forced one, in milliseconds. */
  graceMs: number
}

/** One output stream. Invalid UTF-8 is shown as U+FFFD; cuts fall between code points. */
export interface ShellOutput {
  /** Whole when `truncated` is false; otherwise head and tail with a line between them that says how much is missing. */
  text: string
  truncated: boolean
  /** All bytes that arrived. */
  totalBytes: number
  /** File that holds the stream from its first byte on; only when `truncated` and there was a place to write. */
  spillPath?: string
  /** Present with `spillPath` when a quota or a full disk cut the file. */
  spillIncomplete?: true
}

export interface ShellSurvivor {
  pid: number
  command: string
}

/** What a kill did, verified: signals sent, processes that ended, processes that are still there. */
export interface KillReceipt {
  /** The strongest signal sent; null when nothing was signalled and something was left running. */
  signal: 'SIGTERM' | 'SIGKILL' | null
  /** How many processes were signalled and have ended. */
  ended: number
  /** Still there. Empty with a null `signal`: something holds the output open that could not be identified. */
  survivors: ShellSurvivor[]
}

/** Independent facts. `timedOut` and `aborted` exclude each other: the first cause wins. */
export interface ShellResult {
  exitCode: number | null
  signal: string | null
  timedOut: boolean
  aborted: boolean
  /** The limit that was in force. */
  timeoutMs: number
  durationMs: number
  stdout: ShellOutput
  stderr: ShellOutput
  /** The folder it ran in; differs from the one asked for when that was gone. */
  workdir: string
  /** Present whenever something was killed or left running. */
  kill?: KillReceipt
  /** Present when a confining provider ran it under a policy that confines. */
  sandbox?: SandboxReport
}

/** Output as it arrived, both streams in one; `cursor` counts its UTF-16 units from the start. */
export interface ShellOutputSlice {
  readonly text: string
  /** Where the next read goes on. */
  readonly cursor: number
  /** Units between the cursor asked for and the start of `text` that memory no longer holds. */
  readonly lost: number
}

/** A command that runs. */
export interface ShellProcess {
  /** 0 when the request's signal had fired before: nothing was started, and the result says so. */
  readonly pid: number
  /** The result that `run()` would have given. Rejects only with a coded error of confinement: the command never ran. */
  readonly result: Promise<ShellResult>
  /** Live and merged output from `cursor` on, at most `maxChars`; consumes nothing. At least the last 64 KiB are held. */
  read(cursor: number, maxChars?: number): ShellOutputSlice
  /** Frees the command from its limit and from the request's signal: it ends by itself, by `kill()`, or with the provider. */
  detach(): void
  /** Ends the tree as an abort would; the result carries the receipt. Idempotent; without effect once it has ended. */
  kill(): void
}
