// Every error of terminals: a code and a sentence each.
import { HarnessError } from '@deepseek-ai/cordis'

export type TerminalErrorCode =
  /** No backend makes terminals of that type. */
  | 'TERMINAL_NO_BACKEND'
  | 'TERMINAL_DUPLICATE_BACKEND'
  /** The owner has an open terminal of that name. */
  | 'TERMINAL_DUPLICATE_NAME'
  /** No such terminal of this owner. */
  | 'TERMINAL_NOT_FOUND'
  /** The owner has as many terminals as it may. */
  | 'TERMINAL_LIMIT'
  /** A send is waiting in it. */
  | 'TERMINAL_BUSY'
  /** Its program has ended. */
  | 'TERMINAL_EXITED'
  | 'TERMINAL_SPAWN_FAILED'
  /** A field of the request is out of range. */
  | 'TERMINAL_INVALID_REQUEST'
  /** The owner or the service is ending. */
  | 'TERMINALS_DISPOSED'

export class TerminalError extends HarnessError {
  declare readonly code: TerminalErrorCode

  constructor(message: string, code: TerminalErrorCode, options: { cause?: unknown } = {}) {
    super(message, code, options)
  }
}
