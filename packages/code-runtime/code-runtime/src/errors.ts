// Every error of the code-runtime seam. A program that fails is a result, never one of these.
import { HarnessError } from '@deepseek-ai/cordis'

export type CodeRuntimeErrorCode =
  /** A global of a binding is no identifier, reserved, taken by the runtime, or named twice. */
  | 'CODE_RUNTIME_MISUSE'
  /** The provider is being disposed, or is gone. */
  | 'CODE_RUNTIME_DISPOSED'

/** The program was not started. Its `code` says why, its message what to do about it. */
export class CodeRuntimeError extends HarnessError {
  declare readonly code: CodeRuntimeErrorCode

  constructor(message: string, code: CodeRuntimeErrorCode, options: { cause?: unknown } = {}) {
    super(message, code, options)
  }
}
