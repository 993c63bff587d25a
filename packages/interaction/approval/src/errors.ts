// Every error of approvals: a code and a sentence each.
import { HarnessError } from '@deepseek-ai/cordis'

export type ApprovalErrorCode =
  /** The question or the grant does not stand (any more). */
  | 'APPROVAL_NOT_FOUND'
  /** The answer is no answer to this question. */
  | 'APPROVAL_INVALID'

export class ApprovalError extends HarnessError {
  declare readonly code: ApprovalErrorCode

  constructor(message: string, code: ApprovalErrorCode, options: { cause?: unknown } = {}) {
    super(message, code, options)
  }
}
