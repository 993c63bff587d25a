// Every error of the sandbox seam: a code and a sentence each.
import { HarnessError } from '@deepseek-ai/cordis'

export type SandboxErrorCode =
  /** Nothing on this machine can enforce the policy; the message names the remedy. Nothing was run. */
  | 'SANDBOX_UNAVAILABLE'
  /** The policy cannot be enforced as it stands: a root that is missing, at or above the home folder, or too many protected paths. */
  | 'SANDBOX_POLICY_INVALID'
  /** The mode asked for is not wider than the one in force, or not a mode. */
  | 'SANDBOX_MODE_INVALID'

export class SandboxError extends HarnessError {
  declare readonly code: SandboxErrorCode

  constructor(message: string, code: SandboxErrorCode, options: { cause?: unknown } = {}) {
    super(message, code, options)
  }
}
