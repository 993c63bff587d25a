// Every error of the shell seam: a code and a sentence each. A command that ran is never an error, whatever it did.
import { HarnessError } from '@deepseek-ai/cordis'

export type ShellErrorCode =
  /** A field of the request or of the configuration is out of range. */
  | 'SHELL_INVALID_REQUEST'
  /** The provider's shell is not on this machine. */
  | 'SHELL_NOT_FOUND'
  /** The folder that was asked for is missing, no folder, or closed to us. */
  | 'SHELL_WORKDIR_UNUSABLE'
  /** The operating system refused to start the process. */
  | 'SHELL_SPAWN_FAILED'
  /** The provider is being disposed, or is gone. */
  | 'SHELL_DISPOSED'

/** The command was not started. Its `code` says why, its message what to do about it. */
export class ShellError extends HarnessError {
  declare readonly code: ShellErrorCode

  constructor(message: string, code: ShellErrorCode, options: { cause?: unknown } = {}) {
    super(message, code, options)
  }
}
