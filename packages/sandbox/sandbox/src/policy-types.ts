// The contract of `ctx.sandboxPolicy`: which policy a session's calls run under. No behaviour lives here.
import type { Session } from '@deepseek-ai/dsh-session'
import type { SandboxAccess, SandboxMode, SandboxNetwork, SandboxPolicy, SandboxRule } from './types.ts'

declare module '@deepseek-ai/dsh-session' {
  interface SessionEventMap {
    /** From here on the session's calls run in this mode. Missing before the first: the host's default. */
    'sandbox/mode': { readonly mode: SandboxMode; readonly by: 'user' | 'host' }
  }
}

export interface PolicyRequest {
  /** Whose policy; omitted: a call without a session, under the host's default, with the process's folder as workspace. */
  session?: Session | undefined
  /** A single call's own mode, already approved. Omitted: the session's. */
  mode?: SandboxMode | undefined
}

export interface SandboxPolicies {
  /** The host's default. */
  readonly defaultMode: SandboxMode
  /** The host's network policy: the same for every session. */
  readonly network: SandboxNetwork
  /** Rejects with `SANDBOX_POLICY_INVALID`, e.g. for a workspace at or above the home folder in `workspace-write`. */
  resolve(request: PolicyRequest): Promise<SandboxPolicy>
  modeOf(session: Session): Promise<SandboxMode>
  /** Logged; later calls of the session run in it. */
  setMode(session: Session, mode: SandboxMode, by?: 'user' | 'host'): Promise<void>
  /**
   * Would the policy let this path be read or written? Judges the real path, of the nearest existing parent when it does not exist.
   * For file tools and for telling a denial from any other failure.
   */
  judge(
    path: string,
    access: SandboxAccess,
    policy: SandboxPolicy,
  ): { readonly allowed: true } | { readonly allowed: false; readonly rule: SandboxRule }
}

export interface SandboxPolicyConfig {
  mode: SandboxMode
  network: SandboxNetwork
  allowedHosts: readonly string[]
  /** Extra writable folders; `~/` stands for the home folder. */
  writableRoots: readonly string[]
  /** Added to the built-in list of credentials (ssh, gnupg, cloud and package registries' keys, the harness's own). */
  deniedReads: readonly string[]
  nestedNamespaces: boolean
  unixSockets: boolean
}
