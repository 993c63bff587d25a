// Public surface of @deepseek-ai/dsh-approval. Anything added here is public.
export { Approval, Approval as default } from './approval.ts'
export { approvalConfig } from './config.ts'
export { ApprovalError, type ApprovalErrorCode } from './errors.ts'
export { ESCALATION_PARAMETERS, escalate, type EscalationRequest } from './escalation.ts'
export { commandsOf, coversLine, prefixFault, suggestPrefix, type Prefix } from './shell/prefix.ts'
export type * from './events.ts'
export type * from './types.ts'
