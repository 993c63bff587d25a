// The contract of approvals: what a person is asked, what they may answer, what is remembered. Safe in a browser: types only.
import type { ScopeKey } from '@deepseek-ai/cordis'
import type { SandboxMode, SandboxNetwork } from '@deepseek-ai/dsh-sandbox'
import type { Json, ToolAgent } from '@deepseek-ai/dsh-tools'

/** What exactly would happen: the thing itself, never a description of it. */
export type ApprovalSubject =
  | { readonly kind: 'command'; readonly command: string; readonly dialect: 'bash' | 'pwsh'; readonly workdir: string }
  | { readonly kind: 'diff'; readonly path: string; readonly before: string | null; readonly after: string }
  | { readonly kind: 'arguments'; readonly arguments: Json }

/** What the answer would widen, and from what. */
export interface ApprovalWidening {
  readonly files?: { readonly from: SandboxMode; readonly to: SandboxMode }
  readonly network?: { readonly from: SandboxNetwork; readonly to: SandboxNetwork }
}

export interface ApprovalRequest {
  readonly agent: (ToolAgent & ScopeKey) | undefined
  readonly toolName: string
  readonly callId: string
  readonly subject: ApprovalSubject
  /** Why it is asked, in one sentence; the model's own words when it asks to widen. */
  readonly reason: string
  readonly widening?: ApprovalWidening
  /** Withdraws the question. */
  readonly signal: AbortSignal
}

/** How long an answer holds. `prefix`: for every simple command that begins with these words. */
export type ApprovalGrant =
  | { readonly kind: 'once' }
  /** The same tool, subject kind and widening, until the session ends or it is revoked. */
  | { readonly kind: 'session' }
  | { readonly kind: 'prefix'; readonly words: readonly string[] }

/** Every way an approval can end has its own name. */
export type ApprovalOutcome =
  | {
      readonly kind: 'allowed'
      readonly by: 'person' | 'grant'
      readonly grant: ApprovalGrant
      readonly grantId?: string
    }
  /** A person said no. */
  | { readonly kind: 'rejected'; readonly feedback?: string }
  /** The call was cancelled, or the session ended, while the question stood. */
  | { readonly kind: 'cancelled' }
  /** Nobody can answer: no page is connected, the run is headless. Said at once. */
  | { readonly kind: 'unavailable' }
  /** Nobody answered within the limit. */
  | { readonly kind: 'timed-out'; readonly afterMs: number }

/** A standing question. JSON: hosts send it to a page. */
export interface PendingApproval {
  readonly id: string
  readonly sessionId: string
  readonly callId: string
  readonly toolName: string
  readonly subject: ApprovalSubject
  readonly reason: string
  readonly widening?: ApprovalWidening
  readonly askedAt: number
  /** The narrowest rule that would cover this command, when there is one; what a person may shorten is a prefix of it. */
  readonly suggestedPrefix?: readonly string[]
}

export type ApprovalAnswer =
  | { readonly kind: 'allow'; readonly grant: ApprovalGrant }
  | { readonly kind: 'reject'; readonly feedback?: string }

/** A remembered answer. */
export interface StandingGrant {
  readonly id: string
  readonly grantedAt: number
  readonly grant: Exclude<ApprovalGrant, { kind: 'once' }>
  readonly toolName: string
  readonly subjectKind: ApprovalSubject['kind']
  readonly widening?: ApprovalWidening
}

/** Somebody who can put a question before a person, e.g. a page that is connected. */
export interface ApprovalAnswerer {
  /** Asked at each request: true when a person can be reached now for this session. Must not throw. */
  canAnswer(sessionId: string): boolean
}

/** `ctx.approval` */
export interface ApprovalService {
  /** Asks, or answers from a grant. Never rejects. */
  request(request: ApprovalRequest): Promise<ApprovalOutcome>
  /** Standing questions of a session, oldest first. */
  pending(sessionId: string): readonly PendingApproval[]
  /** Throws `APPROVAL_NOT_FOUND` when it is not standing any more, `APPROVAL_INVALID` for a prefix that does not cover the command. */
  answer(id: string, answer: ApprovalAnswer): void
  grants(sessionId: string): Promise<readonly StandingGrant[]>
  /** Takes a grant back, logged. Throws `APPROVAL_NOT_FOUND`. */
  revoke(sessionId: string, grantId: string): Promise<void>
  registerAnswerer(answerer: ApprovalAnswerer): () => void
  /** Called after each change of a session's questions or grants. */
  subscribe(listener: (sessionId: string) => void): () => void
}

export interface ApprovalConfig {
  /** `never`: every question is answered `unavailable` at once. Default `ask`. */
  policy: 'ask' | 'never'
  /** How long a question stands, in milliseconds. 0: for ever. Default 0. */
  timeoutMs: number
}
