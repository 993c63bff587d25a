// Every error of jobs: a code and a sentence each.
import { HarnessError } from '@deepseek-ai/cordis'

export type JobsErrorCode =
  /** No such job for this owner. */
  | 'JOB_NOT_FOUND'
  /** The owner has as many running jobs as it may. */
  | 'JOB_LIMIT'
  /** The kind, the label or the work is not what the contract says. */
  | 'JOB_INVALID'
  /** The owner or the service is ending. */
  | 'JOBS_DISPOSED'

export class JobsError extends HarnessError {
  declare readonly code: JobsErrorCode

  constructor(message: string, code: JobsErrorCode, options: { cause?: unknown } = {}) {
    super(message, code, options)
  }
}
