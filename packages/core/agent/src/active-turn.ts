// The cancellation of one turn: the first cause wins.
import type { TurnEndReason } from '@deepseek-ai/dsh-session'
import { AgentError } from './errors.ts'

export class ActiveTurn {
  private readonly controller = new AbortController()
  private readonly reactions = new Set<() => void>()
  private cause: string | undefined

  get signal(): AbortSignal {
    return this.controller.signal
  }

  cancel(cause: string): void {
    if (this.cause !== undefined) return
    this.cause = cause
    this.controller.abort(new AgentError(`the turn was cancelled: ${cause}`, 'ABORTED'))
    for (const react of this.reactions) react()
  }

  /** For the loop itself, several times a turn: a listener of the signal costs twenty times as much. Must not throw. */
  onCancel(react: () => void): () => void {
    this.reactions.add(react)
    return () => void this.reactions.delete(react)
  }

  /** How a cancelled turn ends; undefined while it is not cancelled. */
  get cancelled(): (TurnEndReason & { kind: 'aborted' }) | undefined {
    return this.cause === undefined ? undefined : { kind: 'aborted', cause: this.cause }
  }
}
