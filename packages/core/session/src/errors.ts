// Every error of the session log: a code and a sentence each.
import { errorMessage, HarnessError } from '@deepseek-ai/cordis'

export type SessionErrorCode =
  | 'INVALID_SESSION_ID'
  | 'INVALID_SESSION_OPTIONS'
  | 'SESSION_EXISTS'
  | 'SESSION_NOT_FOUND'
  /** Another process, or another host in this one, writes the log. */
  | 'SESSION_LOCKED'
  /** A line in the middle of the log is not what was written there. The file is left as it is. */
  | 'SESSION_CORRUPT'
  /** The log is of a format that this version does not know. */
  | 'SESSION_FORMAT'
  | 'SESSION_CLOSED'
  | 'SESSION_WRITE_FAILED'
  /** The service stops or has stopped. */
  | 'SESSIONS_STOPPED'
  | 'INVALID_EVENT'

export class SessionError extends HarnessError {
  declare readonly code: SessionErrorCode

  // Narrows the code to the ones above.
  // oxlint-disable-next-line no-useless-constructor
  constructor(message: string, code: SessionErrorCode, options: { cause?: unknown } = {}) {
    super(message, code, options)
  }
}

export function corrupt(file: string, line: number, reason: string, cause?: unknown): SessionError {
  return new SessionError(
    `the session log ${file} is damaged at line ${line}: ${reason}; it was left untouched: correct that line, or move the file away`,
    'SESSION_CORRUPT',
    cause === undefined ? {} : { cause },
  )
}

export function notFound(id: string, dir: string): SessionError {
  return new SessionError(`there is no session "${id}" in ${dir}`, 'SESSION_NOT_FOUND')
}

export function closed(id: string): SessionError {
  return new SessionError(`the session "${id}" is closed; open it again to go on`, 'SESSION_CLOSED')
}

export function writeFailed(file: string, thrown: unknown): SessionError {
  const pending = 'what is not on disk yet is kept and tried again'
  return new SessionError(
    `cannot write the session log ${file}: ${errorMessage(thrown)}; ${pending}`,
    'SESSION_WRITE_FAILED',
    {
      cause: thrown,
    },
  )
}

/** The `code` of a system error, e.g. `ENOENT`. */
export function systemCode(thrown: unknown): string | undefined {
  return thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : undefined
}
