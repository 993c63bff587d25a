// What the session log keeps of approvals: every question, every outcome, every grant and its end.
import type { ApprovalGrant, ApprovalOutcome, ApprovalSubject, ApprovalWidening, StandingGrant } from './types.ts'

declare module '@deepseek-ai/dsh-session' {
  interface SessionEventMap {
    'approval/asked': {
      readonly id: string
      readonly callId: string
      readonly toolName: string
      readonly subject: ApprovalSubject
      readonly reason: string
      readonly widening?: ApprovalWidening
      readonly suggestedPrefix?: readonly string[]
    }
    /** `id` is that of the question; missing when a grant answered and nobody was asked. */
    'approval/decided': {
      readonly id?: string
      readonly callId: string
      readonly toolName: string
      readonly outcome: ApprovalOutcome
      readonly by?: 'user'
    }
    'approval/granted': StandingGrant
    'approval/revoked': { readonly id: string }
  }
}

export type { ApprovalGrant }
