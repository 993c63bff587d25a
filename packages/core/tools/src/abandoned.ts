// Bodies that still run although their calls were given up. Each is kept until it settles, so that nothing is lost from sight.
import { emitContained, errorMessage, type ListenerTable } from '@deepseek-ai/cordis'
import type { BodyOutcome } from './body-run.ts'
import type { Call } from './execution.ts'
import type { AbandonedCall, LateOutcome } from './types.ts'

interface Log {
  warn(format: string, ...args: unknown[]): void
  error(format: string, ...args: unknown[]): void
}

export class AbandonedCalls {
  private readonly calls = new Map<Call, AbandonedCall>()
  private readonly listeners: ListenerTable
  private readonly log: Log

  constructor(listeners: ListenerTable, log: Log) {
    this.listeners = listeners
    this.log = log
  }

  list(): AbandonedCall[] {
    return [...this.calls.values()]
  }

  add(call: Call): void {
    const { callId, name, agent } = call
    this.calls.set(call, Object.freeze({ callId, name, agent: agent?.id, abandonedAt: Date.now() }))
    this.log.warn('tool "%s" (call %s) was given up and may still be running', name, callId)
  }

  settled(call: Call, late: BodyOutcome): void {
    const known = this.calls.get(call)
    if (known === undefined) return
    this.calls.delete(call)
    const afterMs = Date.now() - known.abandonedAt
    const outcome: LateOutcome =
      late.kind === 'threw'
        ? { outcome: 'failed', message: errorMessage(late.error), afterMs }
        : { outcome: 'returned', afterMs }
    const what = outcome.outcome === 'failed' ? `failed: ${outcome.message}` : 'returned'
    this.log.warn('tool "%s" (call %s) %s %d ms after it was given up', call.name, call.callId, what, afterMs)
    emitContained(this.listeners['tools/late'], call.agent, [call.view, Object.freeze(outcome)], (error) =>
      this.log.error('tools/late listener failed: %s', errorMessage(error)),
    )
  }
}
