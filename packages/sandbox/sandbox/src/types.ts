// The contract of confinement: what a policy says, what a provider makes of a command, what is known afterwards. No behaviour lives here.

/** What commands may write: nothing; the workspace and the session's temp folder; everything the user may. */
export type SandboxMode = 'read-only' | 'workspace-write' | 'danger-full-access'

/** From narrow to wide. */
export const SANDBOX_MODES = [
  'read-only',
  'workspace-write',
  'danger-full-access',
] as const satisfies readonly SandboxMode[]

/** `none`: no network at all. `allowlist`: HTTP and HTTPS to named hosts, through a proxy. `open`: the host's network. */
export type SandboxNetwork = 'none' | 'allowlist' | 'open'

/** Everything that is decided about one call before it starts. All paths are absolute and real. */
export interface SandboxPolicy {
  readonly mode: SandboxMode
  readonly network: SandboxNetwork
  /** Host names for `allowlist`: exact, or `*.example.com` for everything below. Lower case. */
  readonly allowedHosts: readonly string[]
  /** Workspace of the session: writable in `workspace-write`. */
  readonly root: string
  /** Further writable folders in `workspace-write`. */
  readonly writableRoots: readonly string[]
  /** Files and folders whose content must not be readable, existing or not. Applies in every mode but `danger-full-access`. */
  readonly deniedReads: readonly string[]
  /** Shared by every call of the session: `TMPDIR`, and `/tmp` where the runner can say so. Exists, mode 0700. */
  readonly tempDir: string
  /** Whose policy this is. */
  readonly sessionId: string
  /** Lets commands make namespaces of their own (nested sandboxes, a browser's). Widens what a kernel bug could reach. */
  readonly nestedNamespaces: boolean
  /**
   * Lets commands open Unix sockets, as `tsx` and local databases do. Default false: sockets of the host that lie outside `/tmp` and
   * `/run` (a container engine's in the home folder) would be within reach.
   */
  readonly unixSockets?: boolean
}

export type SandboxAccess = 'read' | 'write'

/** Why a path or a host is out of reach. */
export type SandboxRule =
  /** Outside every writable root. */
  | 'outside-writable-roots'
  /** The mode lets nothing be written. */
  | 'read-only-mode'
  /** Inside a writable root, but run or believed later by something that is not confined: hooks, git config, agent and editor config. */
  | 'protected-path'
  | 'denied-read'
  | 'network-none'
  | 'host-not-allowed'
  /** The name resolves to this machine or to a private network. */
  | 'private-address'

/** A refusal by our policy. `confirmed`: the policy refuses it and the plain user could have. `likely`: the text of a failure says so. */
export interface SandboxDenial {
  readonly kind: SandboxAccess | 'network'
  /** Absolute path, or `host:port`; empty when only the kind is known. */
  readonly target: string
  readonly rule: SandboxRule
  readonly confidence: 'confirmed' | 'likely'
}

/** What confinement did to one command. */
export interface SandboxReport {
  readonly mode: SandboxMode
  readonly network: SandboxNetwork
  /** Present only when something was denied. Absence does not mean that nothing was. */
  readonly denied?: readonly SandboxDenial[]
  /** Things a person should look at: what the command left in the workspace that something unconfined may run later. */
  readonly warnings?: readonly string[]
}

export type SandboxStatus =
  | {
      readonly available: true
      readonly runner: string
      readonly version: string
      /** What this runner cannot do here. */ readonly limits: readonly string[]
    }
  | { readonly available: false; readonly reason: string; /** What to install or set. */ readonly remedy: string }

export interface ConfineRequest {
  /** The command to confine, first the absolute path of the program. */
  readonly argv: readonly [file: string, ...args: string[]]
  /** Absolute. Seen under the same name inside. */
  readonly workdir: string
  /** The complete environment of the command; the provider adds TMPDIR and proxies. */
  readonly env: Readonly<Record<string, string>>
  readonly policy: SandboxPolicy
  /**
   * The command gets a terminal of its own: keep its session, and need no `extraStdio`, which who starts terminals cannot hand on;
   * the polite signal then has no grace, since runner and command share a group.
   * Default false.
   */
  readonly terminal?: boolean
}

/** A command ready to be spawned, once. */
export interface ConfinedCommand {
  readonly argv: readonly [file: string, ...args: string[]]
  readonly env: Readonly<Record<string, string>>
  /** Descriptors the runner needs beside 0, 1 and 2: index 0 is the child's descriptor 3. `pipe`: read by `observe`. */
  readonly extraStdio: readonly (number | 'pipe')[]
  /** Called with the spawned child's streams of `extraStdio` (null where a number was given), right after the spawn. */
  observe(streams: readonly (NodeJS.ReadableStream | null)[]): void
  /** Pids whose group takes the polite signal, once known; empty before, or when the child itself is the one to signal. */
  signalTargets(): readonly number[]
  /**
   * Call once, after the command has ended. Rejects with `SANDBOX_UNAVAILABLE` when the runner failed and the command never ran.
   * `stderrTail` is the end of what the command wrote there, at most 64 KiB.
   */
  finish(outcome: ConfinedOutcome): Promise<
    SandboxReport & {
      /** What really ended the command, where the runner hides it. */ readonly exitCode: number | null
      readonly signal: string | null
    }
  >
  /** Gives descriptors and files back; call when the spawn failed or after `finish`. Idempotent. */
  release(): void
}

export interface ConfinedOutcome {
  readonly exitCode: number | null
  readonly signal: string | null
  readonly stderrTail: string
}
