// Errors of the testkit: wrong use of it. What a subject did wrong is a report or a failed assertion, never one of these.
import { HarnessError } from '@deepseek-ai/cordis'

/** The options of a suite contradict themselves or the subject. The message names the option. */
export class TestkitOptionsError extends HarnessError {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, 'TESTKIT_OPTIONS', options)
  }
}
