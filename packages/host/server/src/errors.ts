// Every error of the server: a code and a sentence each.
import { HarnessError } from '@deepseek-ai/cordis'

export type ServerErrorCode =
  /** Another process listens on the port. */
  | 'PORT_IN_USE'
  /** The address cannot be listened on for another reason. */
  | 'LISTEN_FAILED'
  | 'INVALID_CONFIG'
  /** A second page wants to be served. */
  | 'PAGE_EXISTS'
  /** The parameters of a method do not fit. */
  | 'INVALID_PARAMS'
  /** The folder of a new session is not there. */
  | 'FOLDER_NOT_FOUND'
  /** Neither a valid cookie nor the token came with a request. */
  | 'UNAUTHORIZED'
  /** The Host, the Origin or the fetch metadata of a request is not ours. */
  | 'FOREIGN_REQUEST'
  | 'UNKNOWN_METHOD'
  | 'METHOD_NOT_ALLOWED'
  | 'BODY_TOO_LARGE'
  /** The body is not declared as JSON. */
  | 'UNSUPPORTED_MEDIA_TYPE'
  | 'INVALID_JSON'
  | 'NOT_FOUND'
  /** The service that a method needs is not part of this host. */
  | 'NOT_AVAILABLE'
  /** A failure that nobody foresaw; details are in the server's log only. */
  | 'INTERNAL'

export class ServerError extends HarnessError {
  declare readonly code: ServerErrorCode

  constructor(message: string, code: ServerErrorCode, options: { cause?: unknown } = {}) {
    super(message, code, options)
  }
}
