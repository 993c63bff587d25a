// What the file tools work with: the file service, what a host may offer beside it, and the policy and folder of a call.
import { homedir } from 'node:os'
import { join } from 'node:path'
import { errorCode } from '@deepseek-ai/cordis'
import type { Agent } from '@deepseek-ai/dsh-agent'
import type { ApprovalService } from '@deepseek-ai/dsh-approval'
import type { Fs, FsTarget } from '@deepseek-ai/dsh-fs'
import type { SandboxPolicies, SandboxPolicy } from '@deepseek-ai/dsh-sandbox'
import type { Session } from '@deepseek-ai/dsh-session'
import type { ToolExecution } from '@deepseek-ai/dsh-tools'
import type { ToolFsConfig } from './config.ts'
import type { FsEvents } from './events.ts'
import type { TargetQueue } from './target-queue.ts'

export interface FsToolServices {
  readonly fs: Fs
  /** Fences reads and writes. Omitted: not fenced. */
  readonly sandboxPolicy?: SandboxPolicies | undefined
  /** Whether the calling agent can look at pictures. Omitted: it cannot. */
  readonly readsImages?: ((agent: ToolExecution['agent']) => boolean) | undefined
  /** Asks a person to let one write pass that the fence refuses. */
  readonly approval?: ApprovalService | undefined
  /** Who is told what was seen, and asked before a write. Omitted: nobody. */
  readonly events?: FsEvents | undefined
}

export interface FsToolSetup {
  /** Read at each call: a service may come and go. */
  readonly services: FsToolServices
  readonly config: ToolFsConfig
  /** Shared by the tools that write. */
  readonly queue: TargetQueue
}

/** The session that a call belongs to. A host may pass an agent of its own that has none. */
export function sessionOf(agent: ToolExecution['agent']): Session | undefined {
  return (agent as Partial<Agent> | undefined)?.session
}

/** The policy in force for the session; undefined on a host that confines nothing. */
export async function policyOf(
  { sandboxPolicy }: FsToolServices,
  exec: ToolExecution,
): Promise<SandboxPolicy | undefined> {
  return sandboxPolicy?.resolve({ session: sessionOf(exec.agent) })
}

/**
 * The policy for a look. A folder that may not be written as a workspace, such as the home folder, may still be read: the fence around
 * reads is the same in read-only mode.
 */
export async function readPolicyOf(services: FsToolServices, exec: ToolExecution): Promise<SandboxPolicy | undefined> {
  try {
    return await policyOf(services, exec)
  } catch (error) {
    if (errorCode(error) !== 'SANDBOX_POLICY_INVALID') throw error
    return services.sandboxPolicy?.resolve({ session: sessionOf(exec.agent), mode: 'read-only' })
  }
}

/** Relative paths belong to the session's folder, and `~/` to the home folder, as in a shell. */
export function targetOf({ fs }: FsToolServices, path: string, { agent, signal }: ToolExecution): Promise<FsTarget> {
  const expanded = path === '~' || path.startsWith('~/') ? join(homedir(), path.slice(1)) : path
  return fs.resolve(expanded, { cwd: agent?.cwd, signal })
}
