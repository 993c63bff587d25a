// `ctx.jobs`: starts, finds and ends background jobs, each its owner's alone. A job outlives the call and the plugin that started
// it; it ends by itself, by a kill, with its owner, or with this service.
import { setTimeout as delay } from 'node:timers/promises'
import { FiberState, Service, errorMessage, scopeChain, type Context } from '@deepseek-ai/cordis'
import type { Agent } from '@deepseek-ai/dsh-agent'
import { OwnerBook, noSuchJob } from './book.ts'
import { jobsConfig } from './config.ts'
import { JobsError } from './errors.ts'
import { Job } from './job.ts'
import { JobLog, type FormerJobs } from './log.ts'
import { Notices } from './notices.ts'
import { ReopenedSessions } from './reopened.ts'
import { oneLine } from './text.ts'
import { waitForJob } from './wait.ts'
import type {
  JobKiller,
  JobOutput,
  JobOwner,
  JobRow,
  JobService,
  JobSpec,
  JobWait,
  JobWork,
  JobsConfig,
  Promotable,
} from './types.ts'

declare module '@deepseek-ai/cordis' {
  interface Context {
    jobs: Jobs
  }
}

type Listener = (owner: JobOwner | undefined) => void

const KIND = /^[a-z][a-z0-9-]{0,31}$/

export class Jobs extends Service implements JobService {
  static Config = jobsConfig

  private readonly own: Context
  private readonly config: JobsConfig
  private readonly books = new Map<JobOwner | undefined, OwnerBook>()
  /** Owners that have ended: nothing may start for them. */
  private readonly gone = new WeakSet<object>()
  private readonly listeners = new Set<Listener>()
  private readonly reopened: ReopenedSessions
  private readonly report: (problem: string) => void
  private closed = false

  constructor(ctx: Context, config: Partial<JobsConfig> = {}) {
    super(ctx, 'jobs')
    this.own = ctx
    // What arrives here has been through `Config`, which fills in what was left out.
    this.config = config as JobsConfig
    const logger = ctx.logger('jobs')
    this.report = (problem) => logger.warn('%s', problem)
    this.reopened = new ReopenedSessions((agent, former) => this.remember(agent, former), this.report)
  }

  *[Service.init](): Generator<() => void | Promise<void>, void, void> {
    const { own, reopened } = this
    own.on('agent/created', ({ agent }) => reopened.read(agent))
    own.on('agent/pre-step', (event, next) => reopened.enter(event, next))
    own.on('agent/status', ({ agent, status }) => {
      const notices = status === 'idle' ? this.books.get(agent)?.notices : undefined
      // Not at once: an agent that is woken here would be running before the other listeners hear that it is idle.
      if (notices !== undefined) queueMicrotask(() => notices.idle())
    })
    own.on('agent/disposed', ({ agent }) => void this.gone.add(agent))
    own.inject(['agents'], (child) => {
      for (const agent of child.agents.list()) reopened.read(agent)
    })
    yield () => this.stop()
  }

  start(spec: JobSpec): string {
    const { kind, owner, signal } = checked(spec)
    this.assertOpen(owner)
    signal?.throwIfAborted()
    const book = this.bookOf(owner)
    book.assertRoom(this.config.maxRunningPerOwner)
    const taken = book.takeId(kind)
    const { id } = taken
    let work: JobWork
    try {
      work = checkedWork(spec.run(id))
    } catch (error) {
      taken.giveBack()
      throw error
    }
    this.publish(book, spec, id, work)
    return id
  }

  list(owner: JobOwner | undefined): JobRow[] {
    return Array.from(this.books.get(owner)?.jobs.values() ?? [], (job) => job.row())
  }

  get(owner: JobOwner | undefined, id: string): JobRow | undefined {
    return this.books.get(owner)?.jobs.get(id)?.row()
  }

  read(owner: JobOwner | undefined, id: string): { readonly row: JobRow; readonly output: JobOutput } {
    const { book, job } = this.find(owner, id)
    const output = job.read()
    if (job.ended) this.acknowledge(book, job, 'read')
    return { row: job.row(), output }
  }

  peek(owner: JobOwner | undefined, id: string): string {
    return this.find(owner, id).job.peek(this.config.outputLimitBytes)
  }

  async wait(owner: JobOwner | undefined, id: string, options: JobWait): Promise<JobRow> {
    const { job } = this.find(owner, id)
    await waitForJob(job, options)
    return job.row()
  }

  kill(owner: JobOwner | undefined, id: string, reason?: string, by: JobKiller = 'owner'): boolean {
    const { book, job } = this.find(owner, id)
    const running = !job.ended
    if (running && by === 'owner') job.killedByOwner = true
    if (by === 'owner') this.acknowledge(book, job, 'kill')
    if (!running) return false
    job.cancel(reason)
    this.changed(book)
    return true
  }

  promotable(entry: Promotable): () => void {
    // A call that runs while everything ends must not fail over this.
    if (this.closed || this.isGone(entry.owner)) return () => {}
    const book = this.bookOf(entry.owner)
    book.promotables.add(entry)
    this.changed(book)
    return () => {
      if (book.promotables.delete(entry)) this.changed(book)
    }
  }

  promotables(owner: JobOwner | undefined): readonly Pick<Promotable, 'callId' | 'label'>[] {
    return Array.from(this.books.get(owner)?.promotables ?? [], ({ callId, label }) => ({ callId, label }))
  }

  promote(owner: JobOwner | undefined, callId: string): string {
    const book = this.books.get(owner)
    // Ids of calls may repeat in a session: the newest is the one that somebody sees running.
    const entry = [...(book?.promotables ?? [])].toReversed().find((each) => each.callId === callId)
    if (book === undefined || entry === undefined) {
      const message = `no running call "${oneLine(callId)}" can go on as a job: it has ended, or its tool does not support that`
      throw new JobsError(message, 'JOB_NOT_FOUND')
    }
    const id = entry.promote('person')
    if (book.promotables.delete(entry)) this.changed(book)
    return id
  }

  /** Ends with the caller's fiber. A listener that throws is logged. */
  subscribe(listener: Listener): () => void {
    return this.ctx.effect(() => {
      const entry: Listener = (owner) => listener(owner)
      this.listeners.add(entry)
      return () => void this.listeners.delete(entry)
    }, 'jobs.subscribe')
  }

  private publish(book: OwnerBook, spec: JobSpec, id: string, work: JobWork): void {
    const { kind, label, callId, outputLimitBytes = this.config.outputLimitBytes } = spec
    const limit = Math.min(outputLimitBytes, this.config.outputLimitBytes)
    const job = new Job({ id, kind, label, callId, outputLimitBytes: limit, report: this.report }, work)
    book.jobs.set(id, job)
    book.log.started(job)
    void job.settled.then(() => {
      // One that was given up has been told of already.
      if (!book.jobs.has(id)) return
      book.log.ended(job)
      if (book.ending === undefined) {
        book.notices?.add(job)
        book.trim(this.config.maxKeptPerOwner)
      }
      this.changed(book)
    })
    this.changed(book)
  }

  private find(owner: JobOwner | undefined, id: string): { readonly book: OwnerBook; readonly job: Job } {
    const book = this.books.get(owner)
    if (book === undefined) throw noSuchJob(id, [], false)
    return { book, job: book.job(id) }
  }

  private acknowledge(book: OwnerBook, job: Job, by: 'read' | 'kill'): void {
    if (job.acknowledged) return
    job.acknowledged = true
    if (!job.reported) book.log.told([job.id], by)
    book.notices?.acknowledged()
    this.changed(book)
  }

  private bookOf(owner: JobOwner | undefined): OwnerBook {
    const known = this.books.get(owner)
    if (known !== undefined) return known
    const session = owner === undefined ? undefined : this.own.get('sessions')?.get(owner.id)
    const log = new JobLog(session, this.report)
    const book = new OwnerBook({ owner, session, log, notices: this.noticesFor(owner, log) })
    this.books.set(owner, book)
    this.follow(book)
    return book
  }

  private noticesFor(owner: JobOwner | undefined, log: JobLog): Notices | undefined {
    if (owner === undefined) return undefined
    return new Notices({
      owner,
      config: this.config,
      agent: () => this.agentOf(owner),
      report: this.report,
      onTold: (jobs) => {
        for (const job of jobs) job.reported = true
        log.told(
          jobs.map(({ id }) => id),
          'notice',
        )
        const book = this.books.get(owner)
        if (book !== undefined) this.changed(book)
      },
    })
  }

  private agentOf(owner: JobOwner): Agent | undefined {
    const agent = this.own.get('agents')?.get(owner.id)
    return agent === (owner as object) ? agent : undefined
  }

  /** Learns when a person writes and when the owner ends. */
  private follow(book: OwnerBook): void {
    const { owner, session, notices } = book
    const unsubscribe = session?.subscribe((event) => {
      if (event.type === 'user/message' && event.data.message.source.kind === 'user') notices?.personSpoke()
    })
    if (unsubscribe !== undefined) book.unsubscribe = unsubscribe
    const scope = scopeChain(owner)[0]
    const leave = scope?.ctx.effect(() => () => this.end(book, 'the agent has ended'), 'jobs.owner')
    if (leave !== undefined) book.leave = () => void leave()
  }

  private remember(agent: Agent, { ids, numbers }: FormerJobs): void {
    if (ids.size === 0 || this.closed || this.isGone(agent)) return
    const book = this.bookOf(agent)
    book.formerIds = ids
    book.numberAfter(numbers)
  }

  private assertOpen(owner: JobOwner | undefined): void {
    if (!this.closed && !this.isGone(owner)) return
    const who = this.closed ? 'the job service' : `agent "${owner?.id ?? ''}"`
    throw new JobsError(`${who} is ending; no background job can be started`, 'JOBS_DISPOSED')
  }

  private isGone(owner: JobOwner | undefined): boolean {
    if (owner === undefined) return false
    if (this.gone.has(owner) || this.books.get(owner)?.ending !== undefined) return true
    const state = scopeChain(owner)[0]?.ctx.fiber.state
    // What is registered on a fiber that unwinds is never undone.
    return state !== undefined && state !== FiberState.ACTIVE && state !== FiberState.LOADING
  }

  private end(book: OwnerBook, reason: string): Promise<void> {
    return (book.ending ??= this.endNow(book, reason))
  }

  /** Cancels what runs and waits for it, as long as that may take. */
  private async endNow(book: OwnerBook, reason: string): Promise<void> {
    const { owner, jobs, log, notices } = book
    if (owner !== undefined) this.gone.add(owner)
    notices?.close()
    book.unsubscribe()
    book.promotables.clear()
    const running = book.running()
    for (const job of running) job.cancel(reason)
    if (running.length > 0) await this.settle(running)
    for (const job of running.filter((each) => !each.ended)) {
      const { stopTimeoutMs } = this.config
      const whose = owner === undefined ? '' : ` of agent ${owner.id}`
      this.report(
        `job ${job.id} (${oneLine(job.label)})${whose} did not stop within ${stopTimeoutMs} ms and may still run`,
      )
      log.lost(job, `did not stop within ${stopTimeoutMs} ms`)
      job.release()
    }
    jobs.clear()
    if (this.books.get(owner) === book) this.books.delete(owner)
    this.changed(book)
  }

  private async settle(jobs: readonly Job[]): Promise<void> {
    const giveUp = new AbortController()
    const late = delay(this.config.stopTimeoutMs, undefined, { signal: giveUp.signal }).catch(() => {}) // given up
    await Promise.race([Promise.all(jobs.map(({ settled }) => settled)), late])
    giveUp.abort()
  }

  private async stop(): Promise<void> {
    this.closed = true
    const books = [...this.books.values()]
    await Promise.all(books.map((book) => this.end(book, 'the job service is stopping')))
    for (const book of books) book.leave()
    this.listeners.clear()
  }

  private changed({ owner }: OwnerBook): void {
    for (const listener of this.listeners) {
      try {
        listener(owner)
      } catch (error) {
        this.report(`a listener of jobs failed: ${errorMessage(error)}`)
      }
    }
  }
}

/** Throws `JOB_INVALID`. */
function checked(spec: JobSpec): JobSpec {
  const { kind, label, outputLimitBytes } = spec
  const wrong =
    typeof kind !== 'string' || !KIND.test(kind)
      ? `kind is ${show(kind)}; expected up to 32 lower-case letters, digits and dashes, a letter first`
      : typeof label !== 'string' || label.trim() === ''
        ? `label is ${show(label)}; expected a line of text`
        : typeof spec.run !== 'function'
          ? `run is ${typeof spec.run}; expected a function`
          : outputLimitBytes !== undefined && !(outputLimitBytes > 0)
            ? `outputLimitBytes is ${show(outputLimitBytes)}; expected a positive number`
            : undefined
  if (wrong !== undefined) throw new JobsError(`a job was started with a wrong spec: ${wrong}`, 'JOB_INVALID')
  return spec
}

/** Throws `JOB_INVALID`. */
function checkedWork(work: JobWork): JobWork {
  const { cancel, done } = Object(work) as Partial<JobWork>
  const settles = typeof (done as Partial<Promise<unknown>> | undefined)?.then === 'function'
  if (typeof cancel === 'function' && settles) return work
  const got = `cancel: ${typeof cancel}, done: ${typeof done}`
  throw new JobsError(`run() must return {cancel, done}, got {${got}}`, 'JOB_INVALID')
}

function show(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value.slice(0, 60)) : String(value)
}
