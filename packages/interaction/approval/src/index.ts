// Public surface of @deepseek-ai/dsh-approval. Anything added here is public.
export { ApprovalError, type ApprovalErrorCode } from './errors.ts'
export { escalate, type EscalationRequest } from './escalation.ts'
export type * from './events.ts'
export type * from './types.ts'
