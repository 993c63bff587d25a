// Every error of questions: a code and a sentence each.
import { HarnessError } from '@deepseek-ai/cordis'

export type QuestionErrorCode =
  /** The question does not stand (any more). */
  | 'QUESTION_NOT_FOUND'
  /** The answer is none of the options. */
  | 'QUESTION_INVALID'

export class QuestionError extends HarnessError {
  declare readonly code: QuestionErrorCode

  constructor(message: string, code: QuestionErrorCode, options: { cause?: unknown } = {}) {
    super(message, code, options)
  }
}
