// The contract of shells: what a caller asks, what the provider resolves it to, what comes back. No behaviour lives here.

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
  onOutput?: (chunk: { stream: 'stdout' | 'stderr'; text: string }) => void
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
}

export interface ShellSurvivor {
  pid: number
  command: string
}

/** What a kill did, verified: signals sent, processes that ended, processes that are still there. */
export interface KillReceipt {
  /** The strongest signal sent; null when nothing was signalled and something was left running. */
  signal: 'SIGTERM' | 'SIGKILL' | null
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
}
