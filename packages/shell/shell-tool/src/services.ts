// What a shell tool works with: the shell, and what a host may offer beside it.
import type { Agent } from '@deepseek-ai/dsh-agent'
import type { ApprovalService } from '@deepseek-ai/dsh-approval'
import type { JobService } from '@deepseek-ai/dsh-jobs'
import type { SandboxPolicies } from '@deepseek-ai/dsh-sandbox'
import type { Session } from '@deepseek-ai/dsh-session'
import type { Shell } from '@deepseek-ai/dsh-shell'
import type { SpillService } from '@deepseek-ai/dsh-spill'
import type { ToolExecution } from '@deepseek-ai/dsh-tools'

export interface ShellServices {
  readonly shell: Shell
  /** Background work. */
  readonly jobs?: JobService | undefined
  /** Widening the sandbox for one call. */
  readonly approval?: ApprovalService | undefined
  readonly sandboxPolicy?: SandboxPolicies | undefined
  /** Files for what is too long. */
  readonly spill?: SpillService | undefined
}

/** The session that a call belongs to. A host may pass an agent of its own that has none. */
export function sessionOf(agent: ToolExecution['agent']): Session | undefined {
  return (agent as Partial<Agent> | undefined)?.session
}
