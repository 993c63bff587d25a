// The fence around a write: which policy it runs under, what a refused one is told, and how a person lets one pass.
import { escalate } from '@deepseek-ai/dsh-approval'
import type { ApprovalSubject } from '@deepseek-ai/dsh-approval'
import { FsError, type FsTarget } from '@deepseek-ai/dsh-fs'
import type { SandboxMode, SandboxPolicy } from '@deepseek-ai/dsh-sandbox'
import { ToolArgsError, type ToolExecution } from '@deepseek-ai/dsh-tools'
import type { Change } from './change.ts'
import { changedPart } from './changed-part.ts'
import { policyOf, sessionOf, type FsToolServices } from './services.ts'

export interface EscalationArgs {
  readonly sandbox_permissions?: 'workspace-write' | 'danger-full-access' | undefined
  readonly justification?: string | undefined
}

/** Writes are fenced, and a person can be asked to widen that. */
export function canEscalate({ approval, sandboxPolicy }: FsToolServices): boolean {
  return approval !== undefined && sandboxPolicy !== undefined
}

export function refuseUnknownAbilities(services: FsToolServices, args: EscalationArgs): void {
  if (canEscalate(services)) return
  const refused = (['sandbox_permissions', 'justification'] as const)
    .filter((name) => args[name] !== undefined)
    .map((name) => `${name}: nothing can be widened on this host; leave it out`)
  if (refused.length > 0) throw new ToolArgsError(refused)
}

interface Asked {
  readonly target: FsTarget
  readonly change: Change
  readonly exec: ToolExecution
}

/** The policy that a person grants for this one call, who is shown what would change. Rejects like `escalate`. */
export async function permission(
  services: FsToolServices,
  { sandbox_permissions: requested, justification }: EscalationArgs,
  asked: Asked,
): Promise<SandboxPolicy | undefined> {
  const { exec } = asked
  const policy = await policyOf(services, exec)
  if (policy === undefined) return undefined
  const subject = await subjectOf(services, asked, policy)
  const mode = await escalate(
    { requested, justification, effective: policy.mode, subject },
    { approval: services.approval, exec },
  )
  return mode === undefined ? policy : services.sandboxPolicy?.resolve({ session: sessionOf(exec.agent), mode })
}

async function subjectOf(
  { fs }: FsToolServices,
  { target, change, exec }: Asked,
  policy: SandboxPolicy,
): Promise<ApprovalSubject> {
  const { path } = target
  if (change.operation === 'edit') {
    const before = change.edits.map(({ oldText }) => oldText).join('\n')
    const after = change.edits.map(({ newText }) => newText).join('\n')
    return { kind: 'diff', path, before, after }
  }
  try {
    const { text } = await fs.readText(target, { signal: exec.signal, policy })
    return { kind: 'diff', path, ...changedPart(text, change.content) }
  } catch (error) {
    if (error instanceof FsError && error.code === 'FS_NOT_FOUND') {
      return { kind: 'diff', path, before: null, after: change.content }
    }
    if (exec.signal.aborted) throw error
    // Neither the person's screen nor the log gets what the policy keeps from being read.
    const before = `(what is there now cannot be shown: ${error instanceof FsError ? error.code : 'unknown'})`
    return { kind: 'diff', path, before, after: change.content }
  }
}

/** For a write that the fence refused: where it may go, and how to ask. Undefined for any other failure. */
export async function denialAdvice(
  services: FsToolServices,
  error: unknown,
  target: FsTarget,
  exec: ToolExecution,
): Promise<string | undefined> {
  if (!(error instanceof FsError) || error.code !== 'FS_SANDBOX_DENIED') return undefined
  const policy = await policyOf(services, exec)
  const elsewhere =
    policy?.mode === 'workspace-write'
      ? `Write below ${JSON.stringify(policy.root)} or ${JSON.stringify(policy.tempDir)}`
      : 'Find a way without writing'
  if (!canEscalate(services)) return `${elsewhere}. Nobody can allow it on this host.`
  const mode = await narrowestMode(services, target, exec)
  return `${elsewhere}; or, if this very file has to change, repeat the call with sandbox_permissions: "${mode}" and a justification: a person is asked.`
}

async function narrowestMode(services: FsToolServices, target: FsTarget, exec: ToolExecution): Promise<SandboxMode> {
  const { sandboxPolicy } = services
  const mode = 'workspace-write'
  try {
    const policy = await sandboxPolicy?.resolve({ session: sessionOf(exec.agent), mode })
    const allowed = policy !== undefined && sandboxPolicy?.judge(target.key, 'write', policy).allowed === true
    return allowed ? mode : 'danger-full-access'
  } catch {
    return 'danger-full-access' // this folder cannot be a workspace, e.g. the home folder
  }
}
