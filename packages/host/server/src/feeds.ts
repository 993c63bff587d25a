// The sessions that somebody looks at. Looking opens a stored session without starting an agent and closes it again when the last
// viewer has left and no agent works on it.
import { errorMessage } from '@deepseek-ai/cordis'
import type { Agent, AgentLive, AgentService, AgentSnapshot } from '@deepseek-ai/dsh-agent'
import type { Session, SessionEvent, SessionStore } from '@deepseek-ai/dsh-session'
import type { Aside } from './aside.ts'
import type { Cards } from './cards.ts'
import { Frames } from './frames.ts'
import type { AsideFrame } from './protocol.ts'

export interface FeedSources {
  readonly sessions: SessionStore
  readonly agents: AgentService
  readonly cards: Cards
  readonly aside: Aside
  warn(message: string): void
}

const PAGE_EVENTS = { first: 32, most: 256 }
/** A page beyond this makes the next one smaller: single events may be megabytes. */
const PAGE_BYTES = 512 * 1024

/** How far behind the first viewer others still get its frames. */
const SHARED_EVENTS = 512

/** Who follows a session. Called synchronously; must not throw. */
export interface Viewer {
  /** `seq` of the next durable event to send. */
  readonly next: number
  onEvent(event: SessionEvent): void
  /** `after` is the `seq` of the newest event when `live` came up. */
  onLive(live: AgentLive, after: number): void
  /** What stands beside the conversation has changed. */
  onAside(): void
  /** The session object or its agent was replaced: look again. */
  onChange(): void
  /** The session is gone or the server stops. */
  end(): void
}

const NOTHING_RUNS: AgentSnapshot = { status: 'idle', text: '', reasoning: '', progress: [] }

/** One session with its viewers, its agent when there is one, and the frames that the viewers share. */
export class Feed {
  readonly id: string
  readonly frames: Frames
  readonly viewers = new Set<Viewer>()
  session: Session
  /** True when this feed opened the session, so that it may close it. */
  owned: boolean
  private readonly sources: FeedSources
  private agent: Agent | undefined
  private detached = false
  private leaveSession: () => void
  private leaveAgent: (() => void) | undefined
  private readonly leaveAside: () => void
  private pageEvents = PAGE_EVENTS.first
  private readonly reading = new Map<number, Promise<SessionEvent[]>>()
  private flushedSeq = -1
  private flushing: Promise<void> | undefined
  private reopening: Promise<void> | undefined

  constructor(session: Session, owned: boolean, sources: FeedSources) {
    this.id = session.id
    this.session = session
    this.owned = owned
    this.sources = sources
    this.frames = new Frames(sources.cards)
    this.leaveSession = this.follow(session)
    this.leaveAside = sources.aside.subscribe(session.id, () => {
      for (const viewer of this.viewers) viewer.onAside()
    })
    this.refresh()
  }

  /** What is in progress; taken in the same tick as `session.lastSeq`, the two agree. */
  snapshot(): AgentSnapshot {
    return this.agent?.snapshot() ?? NOTHING_RUNS
  }

  /** What stands beside the conversation, as of now. */
  aside(): Promise<AsideFrame> {
    return this.sources.aside.state(this.id)
  }

  /** Some events from `from` on. Viewers that ask for the same at the same time share one reading. */
  page(from: number, to: number): Promise<SessionEvent[]> {
    const under = this.reading.get(from)
    if (under !== undefined) return under
    const page = this.readPage(from, to).finally(() => this.reading.delete(from))
    this.reading.set(from, page)
    return page
  }

  /** Lets the frames go that every viewer has been sent. Who is far behind reads the log again and keeps nothing here. */
  tidyFrames(): void {
    let newest = 0
    for (const viewer of this.viewers) newest = Math.max(newest, viewer.next)
    let needed = newest
    for (const { next } of this.viewers) if (next > newest - SHARED_EVENTS) needed = Math.min(needed, next)
    this.frames.dropBefore(needed)
  }

  encode(event: SessionEvent): Promise<Buffer> {
    return this.frames.encode(event, this.session, this.agent)
  }

  /**
   * Waits until the events up to `seq` are on disk. A viewer must not learn of an event that a crash could take back: the numbers
   * would be given again to other events, which a reconnect would then skip.
   */
  async flushed(seq: number): Promise<void> {
    while (this.flushedSeq < seq && this.session.open) {
      this.flushing ??= this.flush(this.session)
      await this.flushing
    }
  }

  /** Looks for a session object or an agent that has replaced the known one. */
  refresh(): void {
    if (this.detached) return
    const session = this.sources.sessions.get(this.id)
    if (session !== undefined && session !== this.session) this.adopt(session, false)
    const agent = this.sources.agents.get(this.id)
    if (agent === this.agent) return
    this.leaveAgent?.()
    this.agent = agent
    this.leaveAgent = agent?.subscribe((live) => {
      const after = this.session.lastSeq
      for (const viewer of this.viewers) viewer.onLive(live, after)
    })
    const status = { kind: 'status', status: agent?.status ?? 'idle' } as const
    for (const viewer of this.viewers) viewer.onLive(status, this.session.lastSeq)
    for (const viewer of this.viewers) viewer.onChange()
    this.sources.aside.touch(this.id)
  }

  /** Opens the session again when whoever had it open has closed it. Rejects when it is gone. */
  async reopen(): Promise<void> {
    this.reopening ??= (async () => {
      try {
        const live = this.sources.sessions.get(this.id)
        const session = live ?? (await this.sources.sessions.open(this.id))
        if (this.detached) await (live === undefined ? session.close() : undefined)
        else if (session !== this.session) this.adopt(session, live === undefined)
        this.refresh()
      } finally {
        this.reopening = undefined
      }
    })()
    await this.reopening
  }

  /** Lets go of the session and its agent, for good. */
  detach(): void {
    this.detached = true
    this.leaveSession()
    this.leaveAside()
    this.leaveAgent?.()
    this.leaveAgent = undefined
    this.agent = undefined
  }

  private async readPage(from: number, to: number): Promise<SessionEvent[]> {
    const events = await this.session.read({ from, to, limit: this.pageEvents })
    const bytes = events.reduce((sum, event) => sum + roughBytes(event), 0)
    this.pageEvents =
      bytes > PAGE_BYTES
        ? Math.max(1, Math.floor((events.length * PAGE_BYTES) / bytes))
        : Math.min(PAGE_EVENTS.most, this.pageEvents * 2)
    return events
  }

  private adopt(session: Session, owned: boolean): void {
    this.leaveSession()
    this.session = session
    this.owned = owned
    this.flushedSeq = -1
    this.leaveSession = this.follow(session)
    for (const viewer of this.viewers) viewer.onChange()
  }

  private follow(session: Session): () => void {
    return session.subscribe((event) => {
      // Somebody else may have started an agent on the session that we have open.
      if (this.agent === undefined && event.type !== 'tool/result') this.refresh()
      if (event.type === 'sandbox/mode') this.sources.aside.touch(this.id)
      for (const viewer of this.viewers) viewer.onEvent(event)
    })
  }

  private async flush(session: Session): Promise<void> {
    const seq = session.lastSeq
    try {
      await session.flush()
    } catch (error) {
      // The viewer should see what the agent does all the same; the session itself tells people that it cannot write.
      this.sources.warn(`events of the session ${this.id} are shown before they are stored: ${errorMessage(error)}`)
    } finally {
      if (session === this.session) this.flushedSeq = Math.max(this.flushedSeq, seq)
      this.flushing = undefined
    }
  }
}

export class Feeds {
  private readonly sources: FeedSources
  private readonly feeds = new Map<string, Feed>()
  /** Opening and closing of one session, one after the other. */
  private readonly turns = new Map<string, Promise<unknown>>()
  private readonly held = new Map<string, number>()

  constructor(sources: FeedSources) {
    this.sources = sources
  }

  /** Adds a viewer. Rejects with `SESSION_NOT_FOUND` or `SESSION_CORRUPT`. */
  join(id: string, viewerOf: (feed: Feed) => Viewer): Promise<Feed> {
    return this.inTurn(id, async () => {
      const feed = this.feeds.get(id) ?? (await this.open(id))
      feed.viewers.add(viewerOf(feed))
      this.sources.aside.personUses(id)
      return feed
    })
  }

  leave(feed: Feed, viewer: Viewer): void {
    feed.viewers.delete(viewer)
    this.tidy(feed.id)
  }

  /** Runs work that may start an agent on the session; the session stays open meanwhile. */
  async holding<T>(id: string, work: () => Promise<T>): Promise<T> {
    this.held.set(id, (this.held.get(id) ?? 0) + 1)
    try {
      // A close that has begun must end first: an agent must not get a session that is about to close.
      await this.turns.get(id)
      return await work()
    } finally {
      const left = (this.held.get(id) ?? 1) - 1
      if (left > 0) this.held.set(id, left)
      else this.held.delete(id)
      this.feeds.get(id)?.refresh()
      this.tidy(id)
    }
  }

  refresh(id: string): void {
    this.feeds.get(id)?.refresh()
  }

  /** The tools have changed, and with them the cards. */
  forgetFrames(): void {
    for (const feed of this.feeds.values()) feed.frames.clear()
  }

  /** Ends the streams of a session that is being deleted. */
  end(id: string): void {
    const feed = this.feeds.get(id)
    if (feed === undefined) return
    this.feeds.delete(id)
    feed.detach()
    for (const viewer of Array.from(feed.viewers)) viewer.end()
  }

  /** Ends every stream and closes what viewers had opened. */
  async close(): Promise<void> {
    for (const feed of this.feeds.values()) for (const viewer of Array.from(feed.viewers)) viewer.end()
    await Promise.allSettled(this.turns.values())
  }

  private async open(id: string): Promise<Feed> {
    const live = this.sources.sessions.get(id)
    const feed = new Feed(live ?? (await this.sources.sessions.open(id)), live === undefined, this.sources)
    this.feeds.set(id, feed)
    return feed
  }

  private tidy(id: string): void {
    const unused = (): Feed | undefined => {
      const feed = this.feeds.get(id)
      return feed !== undefined && feed.viewers.size === 0 && !this.held.has(id) ? feed : undefined
    }
    if (unused() === undefined) return
    void this.inTurn(id, async () => {
      const feed = unused()
      if (feed === undefined) return
      this.feeds.delete(id)
      feed.detach()
      if (!feed.owned || this.sources.agents.get(id) !== undefined || !feed.session.open) return
      await feed.session.close().catch((error: unknown) => {
        this.sources.warn(`the session ${id} did not close cleanly: ${errorMessage(error)}`)
      })
    })
  }

  private inTurn<T>(id: string, work: () => Promise<T>): Promise<T> {
    const before = this.turns.get(id) ?? Promise.resolve()
    const mine = before.then(work, work)
    this.turns.set(id, mine)
    const forget = (): void => {
      if (this.turns.get(id) === mine) this.turns.delete(id)
    }
    mine.then(forget, forget)
    return mine
  }
}

/** Size of the strings in an event, which is what makes one large; without the cost of encoding it. */
function roughBytes(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 8
  let sum = 0
  for (const each of Object.values(value)) sum += roughBytes(each)
  return sum
}
