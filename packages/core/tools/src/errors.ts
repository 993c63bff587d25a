// Every error of the registry and its pipeline: a code and a sentence each.
import { HarnessError } from '@deepseek-ai/cordis'

/** Codes that the pipeline itself gives a failed call. A tool's own `HarnessError` brings its own. */
export type ToolFailureCode =
  /** No visible tool has that name. */
  | 'UNKNOWN_TOOL'
  /** The arguments are not lossless JSON or do not match the schema. */
  | 'INVALID_ARGS'
  /** The value, its rendering or its meta broke the tool's own declaration. */
  | 'INVALID_TOOL_OUTPUT'
  /** A `tools/pre-execute` listener denied. */
  | 'DENIED'
  /** A guard denied. */
  | 'GUARD_DENIED'
  | 'APPROVAL_REJECTED'
  | 'APPROVAL_CANCELLED'
  /** A listener asked for approval and nobody can give it. */
  | 'APPROVAL_UNAVAILABLE'
  /** A listener asked for approval and nobody answered in time. */
  | 'APPROVAL_TIMED_OUT'
  /** A `tools/post-execute` listener withheld the result. */
  | 'BLOCKED'
  /** A listener or a guard threw or answered something unknown: refused. */
  | 'POLICY_FAILED'
  /** The body threw something without a code of its own. */
  | 'TOOL_FAILED'
  | 'TOOL_TIMEOUT'
  /** Cancelled before the body started. */
  | 'ABORTED_BEFORE_DISPATCH'
  /** Cancelled while the body ran. */
  | 'ABORTED'
  /** The body did not settle within the grace period after its cancellation or deadline; it may still run. */
  | 'TOOL_ABANDONED'

/** The arguments of a call do not match the tool's schema. */
export class ToolArgsError extends HarnessError {
  /** One line a violation, each with its path. */
  readonly violations: readonly string[]

  constructor(violations: readonly string[]) {
    super(`invalid arguments: ${violations.join('; ')}`, 'INVALID_ARGS')
    this.violations = violations
  }
}

/** A schema uses something outside the supported subset, or contradicts itself. */
export class JsonSchemaError extends HarnessError {
  readonly violations: readonly string[]

  constructor(violations: readonly string[]) {
    super(`unsupported JSON schema: ${violations.join('; ')}`, 'UNSUPPORTED_SCHEMA')
    this.violations = violations
  }
}

/** A tool returned something that its own declaration does not allow. */
export class ToolOutputError extends HarnessError {
  readonly violations: readonly string[]

  constructor(tool: string, violations: readonly string[], options: { cause?: unknown } = {}) {
    super(`tool "${tool}" returned invalid output: ${violations.join('; ')}`, 'INVALID_TOOL_OUTPUT', options)
    this.violations = violations
  }
}

/** A value is not lossless JSON. `path` is where, e.g. `rows[3].when`. */
export class JsonValueError extends HarnessError {
  readonly path: string

  constructor(path: string, reason: string) {
    super(path === '' ? reason : `at "${path}": ${reason}`, 'NOT_LOSSLESS_JSON')
    this.path = path
  }
}
