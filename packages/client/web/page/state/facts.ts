// One sentence each for what was decided beside the conversation: approvals, permission, questions, jobs.
import type { ApprovalOutcome } from '@deepseek-ai/dsh-approval'
import type { JobEnded } from '@deepseek-ai/dsh-jobs'
import type { SandboxMode } from '@deepseek-ai/dsh-sandbox'
import type { SessionEvent } from '@deepseek-ai/dsh-session'
import type { QuestionOutcome } from '@deepseek-ai/dsh-user-questions'
import { t } from '../strings.ts'
import type { FactItem } from './items.ts'

type Fact = Pick<FactItem, 'about' | 'text' | 'detail'>

export function factOf(
  event: SessionEvent<'approval/decided' | 'approval/revoked' | 'sandbox/mode' | 'question/settled' | 'job/ended'>,
): Fact | undefined {
  switch (event.type) {
    case 'approval/decided':
      return { about: 'approval', text: `${event.data.toolName}: ${outcomeText(event.data.outcome)}` }
    case 'approval/revoked':
      return { about: 'approval', text: t.approval.revoked }
    case 'sandbox/mode':
      return { about: 'permission', text: t.permission.now(modeNames[event.data.mode] ?? event.data.mode) }
    case 'question/settled':
      return { about: 'question', text: answers[event.data.outcome] ?? event.data.outcome }
    case 'job/ended':
      return jobFact(event.data)
    default:
      return event satisfies never
  }
}

// Of any version: what a log says need not be among what is known here.
const modeNames: Partial<Record<SandboxMode, string>> = t.permission.modes
const answers: Partial<Record<QuestionOutcome['kind'], string>> = t.question.outcomes

function jobFact({ id, label, status, detail }: JobEnded): Fact {
  return { about: 'job', text: t.jobs.ended(id, status, detail), detail: label }
}

function outcomeText(outcome: ApprovalOutcome): string {
  switch (outcome.kind) {
    case 'allowed': {
      if (outcome.by === 'grant') return t.approval.byGrant
      const { grant } = outcome
      return grant.kind === 'prefix' ? t.approval.allowedPrefix(grant.words.join(' ')) : t.approval.allowed[grant.kind]
    }
    case 'rejected':
    case 'cancelled':
    case 'unavailable':
    case 'timed-out':
      return t.approval.refused[outcome.kind]
    default:
      return outcome satisfies never
  }
}
