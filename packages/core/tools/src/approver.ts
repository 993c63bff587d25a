// Who answers what a `tools/pre-execute` listener asks, and what each answer means for the call. Knows nothing of persons or pages.
import type { Call } from './execution.ts'
import { failure, thrownFailure } from './outcome.ts'
import type { ToolApproval, ToolApprover, ToolFailure } from './types.ts'

export type Refusal = { readonly result: ToolFailure; /** Skips post-execute policy. */ readonly final: boolean }

const ABORTED = Symbol('aborted')

export class Approvers {
  private readonly entries: { readonly approver: ToolApprover }[] = []

  /** The newest answers; when it goes, the one before does again. */
  add(approver: ToolApprover): () => void {
    const entry = { approver }
    this.entries.push(entry)
    return () => {
      const index = this.entries.indexOf(entry)
      if (index >= 0) this.entries.splice(index, 1)
    }
  }

  /** A refusal, or undefined when the call may go on, or was cancelled by its caller meanwhile: then no answer counts. */
  async ask(call: Call, reason: string | undefined): Promise<Refusal | undefined> {
    const approver = this.entries.at(-1)?.approver
    if (approver === undefined) return { result: unavailable(call, reason), final: false }
    try {
      const answer: unknown = await untilAborted(call.callerSignal, () => approver(call.view, reason))
      if (answer === ABORTED) return undefined
      return refusalFor(call, reason, answer)
    } catch (error) {
      return { result: thrownFailure(error, 'POLICY_FAILED'), final: true }
    }
  }
}

/** What the approver answers, unless the caller gives up first; a later answer or failure has no effect. */
async function untilAborted(signal: AbortSignal, ask: () => Promise<ToolApproval>): Promise<unknown> {
  if (signal.aborted) return ABORTED
  let stop = (): void => {}
  const aborted = new Promise<typeof ABORTED>((resolve) => {
    stop = () => resolve(ABORTED)
    signal.addEventListener('abort', stop)
  })
  try {
    return await Promise.race([ask(), aborted])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

function refusalFor(call: Call, reason: string | undefined, answer: unknown): Refusal | undefined {
  const { kind, message } = typeof answer === 'object' && answer !== null ? (answer as Record<string, unknown>) : {}
  if (kind === 'allowed') return undefined
  const said = typeof message === 'string' && message !== '' ? `: ${message}` : ''
  const refused = (code: string, text: string): Refusal => ({ result: failure(code, text + said), final: false })
  switch (kind) {
    case 'rejected':
      return refused('APPROVAL_REJECTED', `the user rejected tool "${call.name}"`)
    case 'cancelled':
      return call.callerSignal.aborted
        ? undefined
        : refused('APPROVAL_CANCELLED', `approval for tool "${call.name}" was cancelled`)
    case 'timed-out':
      return refused('APPROVAL_TIMED_OUT', `nobody answered in time whether tool "${call.name}" may run`)
    case 'unavailable':
      return { result: unavailable(call, reason), final: false }
    default: {
      const got = kind === undefined ? typeof answer : `kind ${JSON.stringify(kind) ?? typeof kind}`
      throw new TypeError(
        `an approver must answer {kind: 'allowed' | 'rejected' | 'cancelled' | 'unavailable' | 'timed-out'} (got ${got})`,
      )
    }
  }
}

function unavailable(call: Call, reason: string | undefined): ToolFailure {
  const why = reason === undefined ? '' : ` (${reason})`
  const message = `tool "${call.name}" requires approval, but no approval channel is available${why}`
  return failure('APPROVAL_UNAVAILABLE', message)
}
