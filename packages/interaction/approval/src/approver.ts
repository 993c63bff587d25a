// Answers for the registry what a `tools/pre-execute` listener asks: the call as a question to the person, the outcome as policy takes it.
import { resolve } from 'node:path'
import type { Json, ToolApproval, ToolApprover, ToolExecution } from '@deepseek-ai/dsh-tools'
import type { ApprovalOutcome, ApprovalService, ApprovalSubject } from './types.ts'

export function toolApprover(approval: ApprovalService): ToolApprover {
  return async (exec, reason) =>
    answered(
      await approval.request({
        agent: exec.agent,
        toolName: exec.name,
        callId: exec.callId,
        subject: subjectOf(exec),
        reason: reason ?? `policy asks before the tool "${exec.name}" runs`,
        signal: exec.signal,
      }),
    )
}

function answered(outcome: ApprovalOutcome): ToolApproval {
  switch (outcome.kind) {
    case 'rejected':
      return outcome.feedback === undefined ? { kind: 'rejected' } : { kind: 'rejected', message: outcome.feedback }
    case 'timed-out':
      return { kind: 'timed-out', message: `no answer within ${outcome.afterMs} ms` }
    default:
      return { kind: outcome.kind }
  }
}

/** The command line where the call has one, otherwise its arguments. */
function subjectOf({ name, arguments: args, agent }: ToolExecution): ApprovalSubject {
  const { command, workdir } = fields(args)
  if (typeof command !== 'string') return { kind: 'arguments', arguments: args }
  const cwd = agent?.cwd ?? process.cwd()
  return {
    kind: 'command',
    command,
    dialect: /pwsh|powershell/i.test(name) ? 'pwsh' : 'bash',
    workdir: typeof workdir === 'string' ? resolve(cwd, workdir) : cwd,
  }
}

function fields(args: Json): Record<string, Json> {
  return typeof args === 'object' && args !== null && !Array.isArray(args) ? (args as Record<string, Json>) : {}
}
