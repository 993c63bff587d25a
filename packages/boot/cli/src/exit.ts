// Exit codes of every command, and the one error that carries one.
import { HarnessError } from '@deepseek-ai/cordis'

export const EXIT = {
  done: 0,
  failed: 1,
  /** Wrong words, flags, files or arguments. */
  usage: 2,
  /** A policy or a person said no. */
  refused: 3,
  /** The model provider failed. */
  provider: 4,
  interrupted: 130,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** Ends a command with a message on standard error and an exit code. */
export class CommandError extends HarnessError {
  readonly exitCode: ExitCode

  constructor(message: string, exitCode: ExitCode, options: { cause?: unknown } = {}) {
    super(message, 'COMMAND_FAILED', options)
    this.exitCode = exitCode
  }
}

const REFUSALS = new Set([
  'DENIED',
  'GUARD_DENIED',
  'APPROVAL_REJECTED',
  'APPROVAL_CANCELLED',
  'APPROVAL_UNAVAILABLE',
  'BLOCKED',
  'POLICY_FAILED',
])

/** The exit code for a failed tool call. */
export function exitForToolFailure(code: string): ExitCode {
  if (REFUSALS.has(code)) return EXIT.refused
  if (code === 'UNKNOWN_TOOL' || code === 'INVALID_ARGS') return EXIT.usage
  return code === 'ABORTED' || code === 'ABORTED_BEFORE_DISPATCH' ? EXIT.interrupted : EXIT.failed
}
