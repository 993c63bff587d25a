// Every failure of the loader: a code and a sentence each.
import { HarnessError, type HarnessErrorOptions } from '@deepseek-ai/cordis'

export type LoaderErrorCode =
  /** A composition file that could not be read. */
  | 'COMPOSITION_UNREADABLE'
  /** A file that is not YAML, or uses YAML that could run code. */
  | 'COMPOSITION_SYNTAX'
  /** A field, type, id or shape that no composition may have. */
  | 'COMPOSITION_INVALID'
  /** An entry that names a row which does not exist. */
  | 'COMPOSITION_UNKNOWN_ROW'
  /** A `${…}` that cannot be filled in. */
  | 'COMPOSITION_VARIABLE'
  /** A module name that leads nowhere. */
  | 'MODULE_NOT_FOUND'
  /** A module that could not be loaded; `cause` has the original. */
  | 'MODULE_FAILED'
  /** A module that exports no plugin. */
  | 'NO_PLUGIN'
  /** A plugin whose import or start has not settled in time. */
  | 'ROW_NOT_READY'
  /** A config that the plugin's `Config` refuses. */
  | 'ROW_CONFIG'
  /** A service that a row needs and nobody provides yet. */
  | 'ROW_WAITING'
  /** A plugin that threw while starting; `cause` has the original. */
  | 'ROW_FAILED'

export class LoaderError extends HarnessError {
  declare readonly code: LoaderErrorCode

  constructor(message: string, code: LoaderErrorCode, options: HarnessErrorOptions = {}) {
    super(message, code, options)
  }
}
