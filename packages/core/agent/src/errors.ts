// Every error of agents: a code and a sentence each.
import { HarnessError } from '@deepseek-ai/cordis'

export type AgentErrorCode =
  /** The agent was disposed; create it again from its session. */
  | 'AGENT_DISPOSED'
  /** The service stops or has stopped. */
  | 'AGENTS_CLOSED'
  /** A message without text: no provider takes it, so it may not enter the history. */
  | 'EMPTY_MESSAGE'
  /** The turn was cancelled; what `signal.reason` carries. */
  | 'ABORTED'
  /** A listener answered something that is no decision. */
  | 'INVALID_DECISION'

export class AgentError extends HarnessError {
  declare readonly code: AgentErrorCode

  constructor(message: string, code: AgentErrorCode, options: { cause?: unknown } = {}) {
    super(message, code, options)
  }
}
