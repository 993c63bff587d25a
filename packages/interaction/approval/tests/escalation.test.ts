import type { SandboxMode } from '@deepseek-ai/dsh-sandbox'
import { compileParameters, type ToolExecution } from '@deepseek-ai/dsh-tools'
import { describe, expect, it } from 'vitest'
import {
  ESCALATION_PARAMETERS,
  escalate,
  type ApprovalOutcome,
  type ApprovalRequest,
  type ApprovalService,
} from '@deepseek-ai/dsh-approval'
import { bash } from './support.ts'

const exec = {
  callId: 'c1',
  name: 'bash',
  agent: undefined,
  signal: new AbortController().signal,
} as unknown as ToolExecution

function answering(outcome: ApprovalOutcome): { approval: ApprovalService; requests: ApprovalRequest[] } {
  const requests: ApprovalRequest[] = []
  const request = async (asked: ApprovalRequest): Promise<ApprovalOutcome> => {
    requests.push(asked)
    return outcome
  }
  return { approval: { request } as unknown as ApprovalService, requests }
}

const ask = (
  requested: unknown,
  justification: string | undefined,
  effective: SandboxMode = 'workspace-write',
): Parameters<typeof escalate>[0] => ({
  requested: requested as SandboxMode | undefined,
  justification,
  effective,
  subject: bash('make install'),
})

const allowed = { kind: 'allowed', by: 'person', grant: { kind: 'once' } } as const

describe('widening one call', () => {
  it('asks for nothing when neither field is given', async () => {
    const { approval, requests } = answering(allowed)
    expect(await escalate(ask(undefined, undefined), { approval, exec })).toBeUndefined()
    expect(requests).toEqual([])
  })

  it('puts the command, the reason and what is widened before the person, and gives the mode for this call', async () => {
    const { approval, requests } = answering(allowed)
    expect(await escalate(ask('danger-full-access', 'installs to /usr'), { approval, exec })).toBe('danger-full-access')
    expect(requests).toMatchObject([
      {
        toolName: 'bash',
        callId: 'c1',
        reason: 'installs to /usr',
        subject: { kind: 'command', command: 'make install' },
        widening: { files: { from: 'workspace-write', to: 'danger-full-access' } },
      },
    ])
  })

  it.each<[string, Parameters<typeof ask>, string]>([
    [
      'without a justification',
      ['danger-full-access', undefined],
      'invalid escalation: sandbox_permissions requires a justification',
    ],
    [
      'without a mode',
      [undefined, 'because'],
      'invalid escalation: justification is only valid together with sandbox_permissions',
    ],
    ['with a blank justification', ['danger-full-access', ' '], 'invalid justification: expected a non-empty sentence'],
    ['to the mode in force', ['workspace-write', 'because'], 'is not wider than workspace-write'],
    ['to a narrower mode', ['read-only', 'because'], 'is not wider than workspace-write'],
    ['to no mode at all', ['root', 'because'], 'is not wider than workspace-write'],
    [
      'beyond the widest',
      ['danger-full-access', 'because', 'danger-full-access'],
      'is not wider than danger-full-access',
    ],
  ])('is refused %s before anybody is asked', async (_what, args, message) => {
    const { approval, requests } = answering(allowed)
    const refused = expect(escalate(ask(...args), { approval, exec })).rejects
    await refused.toMatchObject({ code: 'INVALID_ARGS', message: expect.stringContaining(message) as string })
    expect(requests).toEqual([])
  })

  it.each<[ApprovalOutcome, string, string]>([
    [{ kind: 'rejected', feedback: 'no root' }, 'APPROVAL_REJECTED', 'do not ask again for it. They said: no root'],
    [{ kind: 'cancelled' }, 'APPROVAL_CANCELLED', 'was cancelled'],
    [{ kind: 'unavailable' }, 'APPROVAL_UNAVAILABLE', 'find a way within it'],
    [{ kind: 'timed-out', afterMs: 5000 }, 'APPROVAL_TIMED_OUT', 'within 5000 ms'],
  ])('tells %j apart from every other outcome', async (outcome, code, message) => {
    const { approval } = answering(outcome)
    const refused = expect(escalate(ask('danger-full-access', 'because'), { approval, exec })).rejects
    await refused.toMatchObject({ code, message: expect.stringContaining(message) as string })
  })

  it('fails where there is no approval service', async () => {
    const refused = expect(escalate(ask('danger-full-access', 'because'), { approval: undefined, exec })).rejects
    await refused.toMatchObject({ code: 'APPROVAL_UNAVAILABLE' })
  })

  it('has parameters that a tool can take into its own', () => {
    const { properties } = compileParameters(ESCALATION_PARAMETERS) as { properties: Record<string, object> }
    expect(properties['sandbox_permissions']).toMatchObject({ enum: ['workspace-write', 'danger-full-access'] })
    expect(properties['justification']).toMatchObject({ type: 'string', minLength: 1 })
  })
})
