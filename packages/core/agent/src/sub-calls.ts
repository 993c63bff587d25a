// Writes the calls that programs make into the log of their session, beside the call of `run_code` that runs the program.
import type { Session } from '@deepseek-ai/dsh-session'
import type { SubCallEvent } from '@deepseek-ai/dsh-tools'

export class SubCallLog {
  /** `seq` of the start of each call that has not ended, by session. */
  private readonly started = new WeakMap<Session, Map<string, number>>()

  note(session: Session, callId: string, event: SubCallEvent): void {
    if (!session.open) return // the program outlived its session
    const starts = this.startsOf(session)
    const { callId: subCallId, name } = event
    if (event.kind === 'start') {
      const text = JSON.stringify(event.arguments)
      const { seq } = session.append('tool/sub-call', { callId, subCallId, name, arguments: text })
      starts.set(subCallId, seq)
      return
    }
    const callSeq = starts.get(subCallId)
    if (callSeq === undefined) return
    starts.delete(subCallId)
    const { content, isError, error, durationMs } = event
    const why = error === undefined ? {} : { error }
    session.append('tool/sub-result', { callId, subCallId, callSeq, content, isError, ...why, durationMs })
  }

  private startsOf(session: Session): Map<string, number> {
    let starts = this.started.get(session)
    if (starts === undefined) this.started.set(session, (starts = new Map()))
    return starts
  }
}
