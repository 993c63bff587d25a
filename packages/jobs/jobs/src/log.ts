// Jobs in the session log: what is written as they run, and what an earlier run of the session left untold.
import { errorMessage } from '@deepseek-ai/cordis'
import type { Session, SessionEvent, SessionEventMap, SessionEventType } from '@deepseek-ai/dsh-session'
import type { JobEnded, JobStarted, JobsTold } from './events.ts'
import type { Job } from './job.ts'
import type { FormerJob } from './text.ts'

const PAGE = 500

export class JobLog {
  private readonly session: Session | undefined
  private readonly report: (problem: string) => void

  constructor(session: Session | undefined, report: (problem: string) => void) {
    this.session = session
    this.report = report
  }

  started({ id, kind, label, callId }: Job): void {
    this.append('job/started', { id, kind, label, ...(callId === undefined ? {} : { callId }) })
  }

  ended({ id, kind, label, callId, end }: Job): void {
    if (end === undefined) return
    const { status, detail, survivors } = end
    this.append('job/ended', {
      id,
      kind,
      label,
      status,
      ...(detail === '' ? {} : { detail }),
      ...(callId === undefined ? {} : { callId }),
      ...(survivors === undefined ? {} : { survivors }),
    })
  }

  /** Given up: it did not stop when it was told to. */
  lost({ id, kind, label, callId }: Job, detail: string): void {
    const call = callId === undefined ? {} : { callId }
    this.append('job/ended', { id, kind, label, status: 'lost', detail, ...call })
  }

  lostWithHost({ id, kind, label }: FormerJob): void {
    this.append('job/ended', { id, kind, label, status: 'lost' })
  }

  told(ids: readonly string[], by: JobsTold['by']): void {
    if (ids.length > 0) this.append('job/told', { ids, by })
  }

  /** A log that takes nothing more must not fail the work that it would tell of. */
  private append<T extends SessionEventType>(type: T, data: SessionEventMap[T]): void {
    if (this.session?.open !== true) return
    try {
      this.session.append(type, data)
    } catch (error) {
      this.report(`"${type}" could not be logged: ${errorMessage(error)}`)
    }
  }
}

/** What the log says of the jobs of earlier runs. */
export interface FormerJobs {
  /** Ends that the model does not know of, oldest first. */
  readonly untold: readonly FormerJob[]
  /** Jobs without an end in the log. */
  readonly unended: ReadonlySet<string>
  readonly ids: ReadonlySet<string>
  /** The highest number that was given, by kind. */
  readonly numbers: ReadonlyMap<string, number>
}

/** Reads the log up to what it holds now. */
export async function readFormerJobs(session: Session): Promise<FormerJobs> {
  const fold = new FormerFold()
  const end = session.lastSeq
  for (let next = 0; next <= end;) {
    const page = await session.read({ from: next, to: end, limit: PAGE })
    if (page.length === 0) break
    for (const event of page) fold.take(event)
    next = (page.at(-1)?.seq ?? end) + 1
  }
  return fold.result()
}

class FormerFold {
  private readonly untold = new Map<string, FormerJob>()
  private readonly unended = new Set<string>()
  private readonly ids = new Set<string>()
  private readonly numbers = new Map<string, number>()

  take(event: SessionEvent): void {
    if (event.type === 'job/started') this.start(event.data)
    else if (event.type === 'job/ended') this.finish(event.data)
    else if (event.type === 'job/told') for (const id of event.data.ids) this.untold.delete(id)
  }

  result(): FormerJobs {
    const { untold, unended, ids, numbers } = this
    return { untold: [...untold.values()], unended, ids, numbers }
  }

  private start({ id, kind, label }: JobStarted): void {
    this.untold.set(id, { id, kind, label, status: 'lost' })
    this.unended.add(id)
    this.ids.add(id)
    const number = Number(id.slice(kind.length + 1))
    if (Number.isSafeInteger(number)) this.numbers.set(kind, Math.max(number, this.numbers.get(kind) ?? 0))
  }

  private finish({ id, kind, label, status, detail }: JobEnded): void {
    // One that its owner killed is told already.
    if (this.untold.has(id)) this.untold.set(id, { id, kind, label, status, detail })
    this.unended.delete(id)
  }
}
