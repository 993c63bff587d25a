// Every error of spill: a code and a sentence each.
import { HarnessError } from '@deepseek-ai/cordis'

export type SpillErrorCode =
  /** The folder cannot be made or written. */
  'SPILL_UNAVAILABLE'

export class SpillError extends HarnessError {
  declare readonly code: SpillErrorCode

  constructor(message: string, code: SpillErrorCode, options: { cause?: unknown } = {}) {
    super(message, code, options)
  }
}
