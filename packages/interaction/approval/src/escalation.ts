// Widening the sandbox for one call: what a tool checks before it asks, and what each answer means for the call.
import { HarnessError } from '@deepseek-ai/cordis'
import { SANDBOX_MODES, type SandboxMode } from '@deepseek-ai/dsh-sandbox'
import { ToolArgsError, type ParameterSchemaSpec, type ToolExecution } from '@deepseek-ai/dsh-tools'
import type { ApprovalOutcome, ApprovalService, ApprovalSubject } from './types.ts'

/** The parameters of a tool whose calls may ask to widen the sandbox; shown only where there is one to widen. */
export const ESCALATION_PARAMETERS = {
  sandbox_permissions: {
    type: 'string',
    enum: ['workspace-write', 'danger-full-access'],
    description:
      'Only to repeat what the sandbox has just denied: the narrowest mode that lets it pass. A person is asked, for this one call.',
  },
  justification: {
    type: 'string',
    description: 'Goes with sandbox_permissions: one sentence for the person, saying why.',
    minLength: 1,
  },
} as const satisfies ParameterSchemaSpec

export interface EscalationRequest {
  /** The mode that the model asks for, as it arrived. */
  readonly requested: SandboxMode | undefined
  /** The model's words for the person. */
  readonly justification: string | undefined
  /** The mode in force for the session. */
  readonly effective: SandboxMode
  readonly subject: ApprovalSubject
}

/**
 * The mode that a person has granted for exactly this call; undefined when none was asked for. Fails before anything runs: `INVALID_ARGS` for a
 * request that cannot be meant, `APPROVAL_UNAVAILABLE`, `APPROVAL_REJECTED`, `APPROVAL_CANCELLED` or `APPROVAL_TIMED_OUT` for one that is not granted.
 */
export async function escalate(
  { requested, justification, effective, subject }: EscalationRequest,
  { approval, exec }: { readonly approval: ApprovalService | undefined; readonly exec: ToolExecution },
): Promise<SandboxMode | undefined> {
  if (requested === undefined && justification === undefined) return undefined
  const mode = checked(requested, justification, effective)
  const what = subject.kind === 'command' ? 'command' : 'operation'
  if (approval === undefined) {
    throw new HarnessError(
      `nobody can be asked to widen the sandbox: this host has no approval service; find a way within ${effective}`,
      'APPROVAL_UNAVAILABLE',
    )
  }
  const outcome = await approval.request({
    agent: exec.agent,
    toolName: exec.name,
    callId: exec.callId,
    subject,
    reason: justification as string,
    widening: { files: { from: effective, to: mode } },
    signal: exec.signal,
  })
  if (outcome.kind === 'allowed') return mode
  throw refusal(outcome, what, effective)
}

function checked(
  requested: SandboxMode | undefined,
  justification: string | undefined,
  effective: SandboxMode,
): SandboxMode {
  if (requested === undefined) {
    throw invalid('invalid escalation: justification is only valid together with sandbox_permissions')
  }
  if (justification === undefined) {
    throw invalid('invalid escalation: sandbox_permissions requires a justification')
  }
  if (justification.trim() === '') throw invalid('invalid justification: expected a non-empty sentence')
  if (SANDBOX_MODES.indexOf(requested) <= SANDBOX_MODES.indexOf(effective)) {
    throw invalid(
      `invalid escalation: ${requested} is not wider than ${effective}, which is in force; leave sandbox_permissions out`,
    )
  }
  return requested
}

function invalid(message: string): ToolArgsError {
  return new ToolArgsError([message])
}

function refusal(
  outcome: Exclude<ApprovalOutcome, { kind: 'allowed' }>,
  what: string,
  effective: SandboxMode,
): HarnessError {
  switch (outcome.kind) {
    case 'rejected': {
      const words = outcome.feedback === undefined ? '' : ` They said: ${outcome.feedback}`
      return new HarnessError(
        `the user does not allow this ${what} outside ${effective}; do not ask again for it.${words}`,
        'APPROVAL_REJECTED',
      )
    }
    case 'cancelled':
      return new HarnessError(`the ${what} was cancelled while the user was asked`, 'APPROVAL_CANCELLED')
    case 'unavailable':
      return new HarnessError(
        `nobody is there to allow this ${what} outside ${effective}; find a way within it`,
        'APPROVAL_UNAVAILABLE',
      )
    case 'timed-out':
      return new HarnessError(
        `the user did not answer within ${outcome.afterMs} ms; the ${what} was not run`,
        'APPROVAL_TIMED_OUT',
      )
    default:
      return outcome satisfies never
  }
}
