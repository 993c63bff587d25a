// The configuration of approvals: its fields, defaults and bounds.
import { MAX_DELAY_MS, configSchema, wholeNumber } from '@deepseek-ai/cordis'
import type { ApprovalConfig } from './types.ts'

export const APPROVAL_DEFAULTS: ApprovalConfig = { policy: 'ask', timeoutMs: 0 }

export const approvalConfig = configSchema<ApprovalConfig>('approval', APPROVAL_DEFAULTS, {
  policy: (value) => (value === 'ask' || value === 'never' ? undefined : '"ask" or "never"'),
  timeoutMs: wholeNumber(0, MAX_DELAY_MS),
})
