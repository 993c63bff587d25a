// What belongs to one owner: its jobs, the calls it may turn into jobs, the log and the notices.
import type { Session } from '@deepseek-ai/dsh-session'
import { JobsError } from './errors.ts'
import type { Job } from './job.ts'
import type { JobLog } from './log.ts'
import type { Notices } from './notices.ts'
import { oneLine } from './text.ts'
import type { JobOwner, Promotable } from './types.ts'

export interface BookParts {
  readonly owner: JobOwner | undefined
  /** The open session of the owner, if it has one. */
  readonly session: Session | undefined
  readonly log: JobLog
  /** The host is told nothing: it has no model. */
  readonly notices: Notices | undefined
}

export class OwnerBook {
  readonly owner: JobOwner | undefined
  readonly session: Session | undefined
  readonly log: JobLog
  readonly notices: Notices | undefined
  readonly jobs = new Map<string, Job>()
  readonly promotables = new Set<Promotable>()
  /** Set once the owner or the service ends; resolves when its jobs have ended. */
  ending: Promise<void> | undefined
  /** Stops listening to the session. */
  unsubscribe: () => void = () => {}
  /** Takes back what ends this book with its owner. */
  leave: () => void = () => {}
  /** Ids of earlier runs of the session. */
  formerIds: ReadonlySet<string> = new Set()
  private readonly numbers = new Map<string, number>()

  constructor({ owner, session, log, notices }: BookParts) {
    this.owner = owner
    this.session = session
    this.log = log
    this.notices = notices
  }

  /** Throws `JOB_NOT_FOUND`. */
  job(id: string): Job {
    const job = this.jobs.get(id)
    if (job !== undefined) return job
    throw noSuchJob(id, [...this.jobs.keys()], this.formerIds.has(id))
  }

  running(): Job[] {
    return [...this.jobs.values()].filter((job) => !job.ended)
  }

  /** Throws `JOB_LIMIT`, naming what could be ended. */
  assertRoom(limit: number): void {
    const running = this.running()
    if (running.length < limit) return
    const named = running.slice(0, 3).map(({ id, label }) => `${id} (${oneLine(label, 60)})`)
    const more = running.length > named.length ? ` and ${running.length - named.length} more` : ''
    throw new JobsError(
      `${running.length} background jobs are running and ${limit} may: end one with job_kill or wait for its end. Running: ${named.join(', ')}${more}`,
      'JOB_LIMIT',
    )
  }

  /** The next id of a kind; given back when no job comes of it and no later one was taken. */
  takeId(kind: string): { readonly id: string; giveBack(): void } {
    const number = (this.numbers.get(kind) ?? 0) + 1
    this.numbers.set(kind, number)
    return {
      id: `${kind}-${number}`,
      giveBack: () => {
        if (this.numbers.get(kind) === number) this.numbers.set(kind, number - 1)
      },
    }
  }

  /** Numbers up to these were given in earlier runs of the session. */
  numberAfter(numbers: ReadonlyMap<string, number>): void {
    for (const [kind, number] of numbers) this.numbers.set(kind, Math.max(number, this.numbers.get(kind) ?? 0))
  }

  /** Forgets ended jobs beyond `limit`: the oldest acknowledged one first, then the oldest. */
  trim(limit: number): void {
    const ended = [...this.jobs.values()].filter((job) => job.ended)
    for (let excess = ended.length - limit; excess > 0; excess--) {
      const known = ended.findIndex((job) => job.acknowledged)
      const [victim] = ended.splice(Math.max(known, 0), 1)
      if (victim !== undefined) this.jobs.delete(victim.id)
    }
  }
}

export function noSuchJob(id: string, known: readonly string[], isFormer: boolean): JobsError {
  const why = isFormer ? ' It ended with an earlier run of this session, and its output went with it.' : ''
  const others = known.length === 0 ? 'There are none.' : `There are: ${known.join(', ')}.`
  return new JobsError(`no job "${oneLine(id)}" here.${why} ${others}`, 'JOB_NOT_FOUND')
}
