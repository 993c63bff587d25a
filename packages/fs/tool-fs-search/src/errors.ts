// Every error of the search tools: a code and a sentence each.
import { HarnessError } from '@deepseek-ai/cordis'

export type SearchErrorCode =
  /** The pattern, a glob or a type is not valid; the message shows why and what to do. */
  | 'SEARCH_INVALID_PATTERN'
  /** Nothing is there. */
  | 'SEARCH_PATH_NOT_FOUND'
  /** It is there and cannot be searched: no permission, a device, a pipe, links in a circle. */
  | 'SEARCH_PATH_UNREADABLE'
  /** Names are listed below folders only. */
  | 'SEARCH_NOT_A_FOLDER'
  /** The session's policy denies reading there. */
  | 'SEARCH_DENIED'
  /** The limit was reached before anything was found, which says nothing about what is there. */
  | 'SEARCH_TIMEOUT'
  /** ripgrep could not be started, or failed before it found anything. */
  | 'SEARCH_FAILED'

export class SearchError extends HarnessError {
  declare readonly code: SearchErrorCode

  constructor(message: string, code: SearchErrorCode, options: { cause?: unknown } = {}) {
    super(message, code, options)
  }
}
