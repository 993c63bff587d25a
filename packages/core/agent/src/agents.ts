// `ctx.agents`: creates, resumes, finds and ends agents; one live agent a session.
import {
  Service,
  createScope,
  emitContained,
  errorCode,
  errorMessage,
  hooksOf,
  ordered,
  symbols,
} from '@deepseek-ai/cordis'
import type { Context, Fiber, ListenerTable } from '@deepseek-ai/cordis'
import type { Session, SessionStore } from '@deepseek-ai/dsh-session'
import type { AgentHandle, AgentParts } from './agent.ts'
import { agentsConfig, type AgentsConfig } from './config.ts'
import { AgentError } from './errors.ts'
import type { LoopServices } from './loop-parts.ts'
import { SubCallLog } from './sub-calls.ts'
import type {
  Agent,
  AgentEndOfTurn,
  AgentService,
  AgentStatus,
  CreateAgentOptions,
  PreStepDecision,
  PreStepEvent,
  RequestErrorDecision,
  RequestErrorEvent,
  RequestEvent,
  RequestOptions,
} from './types.ts'

type Awaitable<T> = T | Promise<T>

declare module '@deepseek-ai/cordis' {
  interface Context {
    agents: Agents
  }
  interface Events {
    'agent/created'(event: { agent: Agent }): void
    'agent/disposed'(event: { agent: Agent }): void
    'agent/status'(event: { agent: Agent; status: AgentStatus }): void
    'agent/turn-end'(event: AgentEndOfTurn): void
    /** Around the entry of input into a step: `next()` answers what would enter. */
    'agent/pre-step'(event: PreStepEvent, next: () => Awaitable<PreStepDecision>): Awaitable<PreStepDecision>
    /** Around the choice of the model for a request. */
    'agent/request'(event: RequestEvent, next: () => Awaitable<RequestOptions>): Awaitable<RequestOptions>
    /** Around a failed request: `{ kind: 'retry' }` asks for another try where the loop would give up. */
    'agent/request-error'(
      event: RequestErrorEvent,
      next: () => Awaitable<RequestErrorDecision>,
    ): Awaitable<RequestErrorDecision>
  }
}

export class Agents extends Service implements AgentService {
  static inject = ['tools', 'sessions', 'systemPrompt', 'llm']
  static Config = agentsConfig

  private readonly live = new Map<string, AgentHandle>()
  private readonly opening = new Map<string, Promise<Agent>>()
  private readonly creating = new Set<Promise<unknown>>()
  private readonly own: Context
  private readonly config: AgentsConfig
  private readonly services: LoopServices
  private readonly sessions: SessionStore
  private readonly hooks: ListenerTable
  private readonly report: (error: unknown) => void
  private home: Fiber | undefined
  private closed = false

  constructor(ctx: Context, config: Partial<AgentsConfig> = {}) {
    super(ctx, 'agents')
    this.own = ctx
    // What arrives here has been through `Config`, which fills in what was left out.
    this.config = config as AgentsConfig
    // Plain instances: a call through a context's proxy costs more than a whole step of the loop.
    this.services = { tools: plain(ctx.tools), systemPrompt: plain(ctx.systemPrompt), llm: plain(ctx.llm) }
    this.sessions = plain(ctx.sessions)
    this.hooks = hooksOf(ctx)
    const logger = ctx.logger('agents')
    this.report = (error) => logger.warn(errorMessage(error))
  }

  [Service.init](): void {
    const { own } = this
    const stop = (): Promise<void> => this.disposeAll()
    const setHome = (fiber: Fiber): void => void (this.home = fiber)
    const subCalls = new SubCallLog()
    own.on('tools/sub-call', ({ agent, callId }, event) => {
      const handle = [...this.live.values()].find((each) => each === agent)
      if (handle !== undefined) subCalls.note(handle.session, callId, event)
    })
    // One ordered effect: agents end before the fiber that holds their scopes does.
    ordered(own, 'agents', function* () {
      const home = own.plugin({ name: 'agents.scopes', apply() {} })
      setHome(home)
      yield home.dispose
      yield stop
    })
  }

  /** Rejects with `AGENTS_CLOSED`, `UNKNOWN_MODEL`, `NO_ADAPTER` and what the session store rejects with. */
  async create(options: CreateAgentOptions = {}): Promise<Agent> {
    const id = options.sessionId
    if (id === undefined) return this.tracked(this.open(options))
    const known = this.opening.get(id)
    if (known !== undefined) return known
    const opened = this.tracked(this.open(options)).finally(() => this.opening.delete(id))
    this.opening.set(id, opened)
    return opened
  }

  get(sessionId: string): Agent | undefined {
    const agent = this.live.get(sessionId)
    return agent?.usable === true ? agent : undefined
  }

  list(): Agent[] {
    return [...this.live.values()].filter((agent) => agent.usable)
  }

  private async open(options: CreateAgentOptions): Promise<Agent> {
    const { llm } = this.services
    const model = options.model === undefined ? undefined : llm.resolve(options.model)
    this.assertOpen()
    const before = options.sessionId === undefined ? undefined : this.live.get(options.sessionId)
    if (before?.usable === true) return before
    // A failure to end the one before was reported to whoever ended it.
    await before?.dispose().catch(() => {})
    const session = await this.openSession(options)
    try {
      this.assertOpen()
      const held = await wasInterrupted(session)
      // The loop comes with the first agent: two thirds of this package's modules, which the start of a host has no use for.
      const { AgentHandle } = await import('./agent.ts')
      this.assertOpen()
      const agent = this.start(session, (parts) => new AgentHandle(parts))
      if (model !== undefined) agent.setModel(model)
      emitContained(this.hooks['agent/created'], agent, [{ agent }], this.report)
      if (!held) agent.startPending()
      return agent
    } catch (error) {
      await session.close().catch(this.report)
      throw error
    }
  }

  private async openSession({ sessionId, cwd, ephemeral }: CreateAgentOptions): Promise<Session> {
    const fresh = { cwd: cwd ?? process.cwd(), ...(ephemeral === undefined ? {} : { ephemeral }) }
    if (sessionId === undefined) return this.sessions.create(fresh)
    try {
      return await this.sessions.open(sessionId)
    } catch (error) {
      if (errorCode(error) !== 'SESSION_NOT_FOUND') throw error
      return this.sessions.create({ ...fresh, id: sessionId })
    }
  }

  private start(session: Session, make: (parts: AgentParts) => AgentHandle): AgentHandle {
    const home = this.home
    if (home === undefined) throw closedError()
    const agent = make({
      ...this.services,
      session,
      config: this.config,
      hooks: this.hooks,
      report: this.report,
      openScope: (key) => createScope(home.ctx, key, { name: `agent ${session.id}` }),
      onDisposed: (ended) => {
        if (this.live.get(ended.id) === ended) this.live.delete(ended.id)
        emitContained(this.hooks['agent/disposed'], ended, [{ agent: ended }], this.report)
      },
    })
    this.live.set(session.id, agent)
    return agent
  }

  /** A stop waits for it. */
  private async tracked<T>(work: Promise<T>): Promise<T> {
    this.creating.add(work)
    try {
      return await work
    } finally {
      this.creating.delete(work)
    }
  }

  private async disposeAll(): Promise<void> {
    this.closed = true
    await Promise.allSettled(this.creating)
    const ended = await Promise.allSettled(Array.from(this.live.values(), (agent) => agent.dispose()))
    for (const each of ended) if (each.status === 'rejected') this.report(each.reason)
  }

  private assertOpen(): void {
    if (this.closed) throw closedError()
  }
}

function closedError(): AgentError {
  return new AgentError('agents are being stopped; no agent can be created', 'AGENTS_CLOSED')
}

/** The service behind the proxy that a context hands out. */
function plain<T extends object>(service: T): T {
  return (Reflect.get(service, symbols.original) as T | undefined) ?? service
}

/** True when the last turn was cut off by the end of its process: then what waits in the inbox waits for a person. */
async function wasInterrupted(session: Session): Promise<boolean> {
  if (session.turn === 0 || session.pending().length === 0) return false
  for (let to = session.lastSeq; to >= 0; to -= 500) {
    const events = await session.read({ from: Math.max(0, to - 499), to })
    for (const event of events.toReversed()) {
      if (event.type === 'turn/end') return event.data.reason.kind === 'interrupted'
    }
  }
  return false
}
