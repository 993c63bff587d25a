// Every error that `ctx.llm` throws, and the two failure chunks it makes itself.
import { HarnessError } from '@deepseek-ai/cordis'
import type { LlmChunk, LlmFailure, LlmFailureCode } from './types.ts'

export type LlmErrorCode =
  /** A second adapter wants the name of a registered one. */
  | 'DUPLICATE_PROVIDER'
  /** The name of a provider cannot be used in `provider/model`. */
  | 'INVALID_PROVIDER'
  /** No provider of that name, or none that can be used. */
  | 'NO_ADAPTER'
  /** No such model, or more than one. */
  | 'UNKNOWN_MODEL'
  /** The provider keeps no settings. */
  | 'NOT_CONFIGURABLE'
  /** The config of the service is not valid. */
  | 'INVALID_CONFIG'

export class LlmError extends HarnessError {
  declare readonly code: LlmErrorCode

  constructor(message: string, code: LlmErrorCode, options: { cause?: unknown } = {}) {
    super(message, code, options)
  }
}

/** The terminal chunk of a failed stream. */
export function failureChunk(
  code: LlmFailureCode,
  message: string,
  facts: Omit<LlmFailure, 'code' | 'message'> = {},
): LlmChunk {
  return { type: 'error', failure: { code, message, ...facts } }
}

const FAILURE_CODES: Record<LlmFailureCode, true> = {
  MISSING_CREDENTIAL: true,
  AUTH: true,
  QUOTA: true,
  RATE_LIMIT: true,
  CONTEXT_WINDOW_EXCEEDED: true,
  INVALID_REQUEST: true,
  UNKNOWN_MODEL: true,
  NO_ADAPTER: true,
  SERVER: true,
  TIMEOUT: true,
  TRANSPORT: true,
  STREAM_CLOSED: true,
  EMPTY_RESPONSE: true,
  MALFORMED_RESPONSE: true,
  ABORTED: true,
  UNKNOWN: true,
}

export function isFailureCode(code: string | undefined): code is LlmFailureCode {
  return code !== undefined && Object.hasOwn(FAILURE_CODES, code)
}
