// The one coded error class of the product, and the total functions that read a message and a code from anything thrown.

export interface HarnessErrorOptions {
  /** What led here; kept so that a log shows the whole chain. */
  cause?: unknown
}

/**
 * An error with a stable machine-readable code. Route on `code`, never on the message text.
 * A subclass gets its own class name as `name`.
 */
export class HarnessError extends Error {
  readonly code: string

  constructor(message: string, code: string, options: HarnessErrorOptions = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined)
    this.name = new.target.name
    this.code = code
  }
}

/** The code of a `HarnessError`, otherwise undefined; a foreign `code` property does not count. */
export function errorCode(thrown: unknown): string | undefined {
  return thrown instanceof HarnessError ? thrown.code : undefined
}

/** A message for anything that can be thrown. Never throws itself, hostile getters included. */
export function errorMessage(thrown: unknown): string {
  try {
    if (typeof thrown === 'object' && thrown !== null && 'message' in thrown) {
      const { message } = thrown
      if (typeof message === 'string') return message
    }
    return String(thrown)
  } catch {
    return '<unprintable thrown value>' // a getter or toString of the thrown value threw
  }
}
