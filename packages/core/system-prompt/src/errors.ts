// Every error of the system prompt: a code and a sentence each.
import { HarnessError } from '@deepseek-ai/cordis'

export type SystemPromptErrorCode =
  /** A section is not `{name, order, text}`. */
  | 'INVALID_SECTION'
  /** The layer has a section, or a context, of that name. */
  | 'DUPLICATE_SECTION'
  /** The text of a section could not be computed, so that there is no prompt. */
  | 'PROMPT_SECTION_FAILED'
  /** A provider of tool schemas threw, so that there is no prompt. */
  | 'PROMPT_TOOLS_FAILED'
  /** Two tools have one name. */
  | 'DUPLICATE_TOOLS'

export class SystemPromptError extends HarnessError {
  declare readonly code: SystemPromptErrorCode

  // Narrows the code to the ones above.
  // oxlint-disable-next-line no-useless-constructor
  constructor(message: string, code: SystemPromptErrorCode, options: { cause?: unknown } = {}) {
    super(message, code, options)
  }
}
