// What the search tools work with beside ripgrep, where a host offers it. Only the parts that they use.
import type { SpillService } from '@deepseek-ai/dsh-spill'
import type { ToolAgent } from '@deepseek-ai/dsh-tools'

/** Of a session's policy: which reads it denies. */
export interface ReadPolicy {
  readonly mode: string
  /** Absolute and real. Not in force in `danger-full-access`. */
  readonly deniedReads: readonly string[]
}

/** The part of `ctx.sandboxPolicy` that is asked. */
export interface ReadPolicies {
  resolve(request: { session?: never }): Promise<ReadPolicy>
}

export interface SearchServices {
  /** Files for results that are longer than a page. Missing: they are not kept. */
  spill?: SpillService | undefined
  /** Missing: every read is allowed. */
  sandboxPolicy?: ReadPolicies | undefined
}

/** What the policy of the calling agent's session denies. Rejects when there is no valid policy: then nothing is searched. */
export async function deniedReads(
  { sandboxPolicy }: SearchServices,
  agent: ToolAgent | undefined,
): Promise<readonly string[]> {
  if (sandboxPolicy === undefined) return []
  const session = (agent as { session?: never } | undefined)?.session
  const policy = await sandboxPolicy.resolve(session === undefined ? {} : { session })
  return policy.mode === 'danger-full-access' ? [] : policy.deniedReads
}
