// `ctx.sessions`: creates, opens, lists, renames and deletes sessions. Owns which of them are live; a session is `LiveSession`, its
// files are the business of `stored.ts`.
import { randomBytes } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import { setImmediate as nextTick } from 'node:timers/promises'
import { emitContained, errorMessage, hooksOf, Service, type Context, type Fiber } from '@deepseek-ai/cordis'
import { sessionsConfig, type SessionsConfig } from './config.ts'
import { notFound, SessionError } from './errors.ts'
import type { SessionSummary } from './events.ts'
import { LogFile } from './log-file.ts'
import { Projection, titleOf } from './projection.ts'
import { LiveSession, type LiveSessionParts } from './session.ts'
import { beginLog, loadLog, removeLog, sessionExists, type StoredLog } from './stored.ts'
import { Summaries } from './summaries.ts'
import { EPHEMERAL_TAIL, Tail } from './tail.ts'
import type { CreateSessionOptions, Session, SessionStore } from './types.ts'

declare module '@deepseek-ai/cordis' {
  interface Context {
    sessions: Sessions
  }
  interface Events {
    /** A new session is live. */
    'session/created'(session: Session): void
    /** What a list shows of a session has changed. Several changes in one go are told once. */
    'session/changed'(summary: SessionSummary): void
    /** A session and its log are gone, or one that was kept in memory only is closed. */
    'session/deleted'(id: string): void
  }
}

const ID = /^[A-Za-z0-9_-]{1,64}$/

export class Sessions extends Service implements SessionStore {
  static Config = sessionsConfig
  private readonly dir: string
  private readonly fsync: NonNullable<SessionsConfig['fsync']>
  private readonly live = new Map<string, LiveSession>()
  /** The newest operation of each id: they run one after the other. */
  private readonly queues = new Map<string, Promise<unknown>>()
  private readonly changed = new Set<LiveSession>()
  private readonly announce: (session: LiveSession) => void
  private readonly summaries: Summaries
  private readonly warn: (message: string) => void
  private readonly notify: (event: 'session/created' | 'session/changed' | 'session/deleted', value: unknown) => void
  private readonly registry: Context['registry']
  private readonly consumers = new Set<Fiber>()
  private stopped = false

  constructor(ctx: Context, config: SessionsConfig) {
    super(ctx, 'sessions')
    this.dir = config.dir
    this.fsync = config.fsync ?? 'batch'
    // Loggers and listener lists are read once: a context property costs more than an append.
    this.registry = ctx.registry
    const logger = ctx.logger('sessions')
    this.warn = (message) => logger.warn('%s', message)
    const hooks = hooksOf(ctx)
    this.notify = (event, value) =>
      emitContained(hooks[event], undefined, [value], (error) =>
        this.warn(`a listener of ${event} failed: ${errorMessage(error)}`),
      )
    this.announce = (session) => {
      // Not `queueMicrotask`, which makes an async resource each time. `tell` does not throw.
      if (this.changed.size === 0) void soon.then(tell)
      this.changed.add(session)
    }
    const soon = Promise.resolve()
    const tell = (): void => {
      const sessions = [...this.changed]
      this.changed.clear()
      if (hooks['session/changed'] === undefined) return
      for (const session of sessions) this.notify('session/changed', session.summary())
    }
    mkdirSync(this.dir, { recursive: true, mode: 0o700 })
    this.summaries = new Summaries(this.dir, this.warn)
  }

  *[Service.init](): Generator<() => void | Promise<void>, void, void> {
    const drain = (): void => {
      for (const session of this.live.values()) session.drain()
    }
    process.on('exit', drain) // `process.exit()` runs no disposers
    yield () => void process.off('exit', drain)
    yield () => this.stop()
  }

  async create(options: CreateSessionOptions): Promise<Session> {
    const { cwd, ephemeral = false } = options
    if (typeof cwd !== 'string' || !isAbsolute(cwd)) {
      const got = JSON.stringify(cwd)
      throw new SessionError(`"cwd" must be the absolute path of a folder, got ${got}`, 'INVALID_SESSION_OPTIONS')
    }
    const id = checkId(options.id ?? newId())
    const title = titleOf(options.title)
    return this.serial(id, async () => {
      if (this.live.has(id)) throw sessionExists(id)
      const session = ephemeral ? this.inMemory(id) : this.stored(id, beginLog(this.dir, id))
      try {
        session.record('session/start', { format: 1, id, cwd, ...(title === undefined ? {} : { title }) }, Date.now())
        await session.flush()
      } catch (error) {
        await session.close().catch(() => {}) // the first failure is the one to tell
        if (!ephemeral) removeLog(this.dir, id)
        throw error
      }
      this.notify('session/created', session)
      return session
    })
  }

  async open(id: string): Promise<Session> {
    checkId(id)
    return this.serial(id, () => this.openNow(id))
  }

  get(id: string): Session | undefined {
    const session = this.live.get(id)
    return session?.open === true ? session : undefined
  }

  async list(): Promise<SessionSummary[]> {
    const stored = await this.summaries.list(this.live)
    // A session may have become live while the files were read.
    const rows = stored.filter(({ id }) => !this.live.has(id))
    for (const session of this.live.values()) rows.push(session.summary())
    return rows.sort((a, b) => b.updatedAt - a.updatedAt || (a.id < b.id ? 1 : -1))
  }

  async rename(id: string, title: string): Promise<void> {
    checkId(id)
    const given = titleOf(title)
    if (given === undefined) throw new SessionError('a title must not be empty', 'INVALID_SESSION_OPTIONS')
    await this.serial(id, async () => {
      const wasOpen = this.live.get(id)?.open === true
      const session = await this.openNow(id)
      session.append('session/title', { title: given, by: 'user' })
      await (wasOpen ? session.flush() : session.close())
    })
  }

  async delete(id: string): Promise<void> {
    checkId(id)
    await this.serial(id, async () => {
      const session = this.live.get(id)
      // What could not be written is about to be removed anyway.
      await session?.close().catch((error: unknown) => this.warn(errorMessage(error)))
      const removed = removeLog(this.dir, id)
      if (session === undefined && !removed) throw notFound(id, this.dir)
      this.summaries.forget(id)
      if (removed) this.notify('session/deleted', id)
    })
  }

  private async openNow(id: string): Promise<LiveSession> {
    const current = this.live.get(id)
    if (current?.open === true) return current
    await current?.close().catch(() => {}) // told to whoever closed it
    const log = await loadLog(this.dir, id)
    const session = this.stored(id, log)
    if (log.notice !== undefined) session.record('session/notice', log.notice, log.last?.time ?? Date.now())
    session.repair()
    return session
  }

  private inMemory(id: string): LiveSession {
    const projection = new Projection()
    return this.enter({ id, projection, tail: new Tail(EPHEMERAL_TAIL), last: undefined })
  }

  private stored(id: string, { path, fd, at, lock, projection, tail, last }: StoredLog): LiveSession {
    const onFailure = (error: SessionError): void => session.reportWriteFailure(error)
    const log = new LogFile({ id, path, fsync: this.fsync, onFailure }, fd, at)
    const session = this.enter({ id, projection, tail, last, log }, () => lock.release())
    return session
  }

  private enter(
    parts: Pick<LiveSessionParts, 'id' | 'projection' | 'tail' | 'last' | 'log'>,
    release: () => void = () => {},
  ): LiveSession {
    const session = new LiveSession({
      ...parts,
      warn: (message) => this.warn(`session ${parts.id}: ${message}`),
      onChange: this.announce,
      onClosed: () => {
        release()
        this.live.delete(parts.id)
        if (parts.log === undefined) this.notify('session/deleted', parts.id)
        else this.announce(session)
      },
    })
    this.live.set(parts.id, session)
    return session
  }

  /** Runs the operations on one id one after the other. */
  private async serial<T>(id: string, operation: () => Promise<T>): Promise<T> {
    if (this.stopped) throw new SessionError('the session service has stopped', 'SESSIONS_STOPPED')
    this.noteConsumers()
    const before = this.queues.get(id)
    const mine = before === undefined ? operation() : before.then(operation, operation)
    this.queues.set(id, mine)
    try {
      return await mine
    } finally {
      if (this.queues.get(id) === mine) this.queues.delete(id)
    }
  }

  /** Waits for the consumers, who may have something to log at their end, then closes what they left open. */
  private async stop(): Promise<void> {
    this.stopped = true
    // A host unwinds its fibers side by side, those in groups some microtasks later: let all of them begin.
    await nextTick()
    this.noteConsumers()
    await Promise.all([...this.consumers].map((fiber) => settled(fiber)))
    await Promise.allSettled(this.queues.values())
    const endings = [...this.live.values()].map((session) => session.close())
    for (const ending of await Promise.allSettled(endings)) {
      if (ending.status === 'rejected') this.warn(errorMessage(ending.reason))
    }
  }

  /** Remembers who uses the service: a fiber that is being disposed is in no list any more. */
  private noteConsumers(): void {
    for (const fiber of this.consumers) {
      if (fiber.uid === null && fiber.inertia === undefined) this.consumers.delete(fiber)
    }
    for (const runtime of this.registry.values()) {
      for (const fiber of runtime.fibers) if ('sessions' in fiber.inject) this.consumers.add(fiber)
    }
  }
}

async function settled(fiber: Fiber): Promise<void> {
  try {
    while (fiber.inertia !== undefined) await fiber.inertia
  } catch {
    // A consumer that fails at its end is reported by cordis.
  }
}

function checkId(id: string): string {
  if (typeof id === 'string' && ID.test(id)) return id
  throw new SessionError(
    `${JSON.stringify(id)} cannot name a session: use 1 to 64 letters, digits, "-" and "_"`,
    'INVALID_SESSION_ID',
  )
}

/** Sorts by time of creation in a folder listing. */
function newId(): string {
  const [date = '', time = ''] = new Date().toISOString().split('T')
  return `${date.replaceAll('-', '')}-${time.slice(0, 8).replaceAll(':', '')}-${randomBytes(4).toString('hex')}`
}
