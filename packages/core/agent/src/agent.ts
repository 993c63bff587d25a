// The handle of one agent: takes messages, wakes the loop, cancels it, ends it. What a turn does is not here.
import { emitContained, type Context, type Scope } from '@deepseek-ai/cordis'
import type { ModelRef } from '@deepseek-ai/dsh-llm'
import type { Session, SessionMessage } from '@deepseek-ai/dsh-session'
import type { ContentBlock, ContextMessage } from '@deepseek-ai/dsh-tools'
import { ActiveTurn } from './active-turn.ts'
import { CallIds } from './call-ids.ts'
import { AgentError } from './errors.ts'
import { Inbox } from './inbox.ts'
import { LiveFeed } from './live.ts'
import type { LoopParts } from './loop-parts.ts'
import { RequestLog } from './request-log.ts'
import { runTurn } from './turn.ts'
import type { Agent, AgentLive, AgentSnapshot, AgentStatus, SendOptions } from './types.ts'

export interface AgentParts extends Pick<LoopParts, 'tools' | 'systemPrompt' | 'llm' | 'config' | 'hooks' | 'report'> {
  readonly session: Session
  readonly openScope: (agent: Agent) => Scope
  /** Called once the agent is quiet. */
  readonly onDisposed: (agent: AgentHandle) => void
}

export class AgentHandle implements Agent {
  readonly id: string
  readonly cwd: string
  readonly ctx: Context
  readonly session: Session
  private readonly parts: LoopParts
  private readonly scope: Scope
  private readonly onDisposed: (agent: AgentHandle) => void
  private starting: Promise<void> | undefined
  private loop: Promise<void> | undefined
  private active: ActiveTurn | undefined
  private ending = false
  private disposal: Promise<void> | undefined

  constructor({ session, openScope, onDisposed, ...services }: AgentParts) {
    this.id = session.id
    this.cwd = session.cwd
    this.session = session
    this.onDisposed = onDisposed
    this.parts = {
      ...services,
      agent: this,
      session,
      inbox: new Inbox(session),
      live: new LiveFeed(services.report),
      callIds: new CallIds(session.messages()),
      requestLog: new RequestLog(session),
    }
    this.scope = openScope(this)
    this.ctx = this.scope.ctx
  }

  get status(): AgentStatus {
    return this.parts.live.status
  }

  get model(): ModelRef {
    const { llm } = this.parts
    const chosen = this.session.model
    try {
      return llm.resolve(chosen)
    } catch {
      // The request itself fails with the reason; a list of sessions must not.
      return chosen ?? { provider: 'none', model: 'none' }
    }
  }

  /** False from the moment `dispose()` is called, and once somebody else has closed the session. */
  get usable(): boolean {
    return !this.ending && this.session.open
  }

  send(content: string | readonly ContentBlock[], options: SendOptions = {}): SessionMessage {
    this.assertUsable()
    const { delivery = 'queue', source = { kind: 'user' } } = options
    const message = this.parts.inbox.add(content, source, delivery)
    if (delivery !== 'inject') this.wake()
    return message
  }

  inject({ content, source }: ContextMessage): void {
    this.send(content, { delivery: 'inject', source })
  }

  withdraw(messageId: string): boolean {
    return !this.ending && this.parts.inbox.withdraw(messageId)
  }

  cancel(cause = 'user', options: { clearInbox?: boolean } = {}): void {
    if (options.clearInbox === true && !this.ending) this.parts.inbox.clear()
    this.active?.cancel(cause)
  }

  setModel(model: ModelRef): void {
    this.assertUsable()
    const { provider, model: name } = this.parts.llm.resolve(model)
    const current = this.session.model
    if (current?.provider === provider && current.model === name) return
    this.session.append('session/model', { provider, model: name })
  }

  async whenIdle(): Promise<void> {
    while (this.starting !== undefined || this.loop !== undefined) await (this.starting ?? this.loop)
  }

  snapshot(): AgentSnapshot {
    return this.parts.live.snapshot()
  }

  subscribe(listener: (live: AgentLive) => void): () => void {
    return this.parts.live.subscribe(listener)
  }

  /** Starts work that a resumed session still owes, after whoever created the agent could subscribe. */
  startPending(): void {
    if (!this.parts.inbox.wakes()) return
    this.starting = new Promise((resolve) => {
      setImmediate(() => {
        this.starting = undefined
        this.wake()
        resolve()
      })
    })
  }

  dispose(): Promise<void> {
    this.ending = true
    return (this.disposal ??= this.shutDown())
  }

  private async shutDown(): Promise<void> {
    this.active?.cancel('disposed')
    await this.whenIdle()
    try {
      await this.scope.dispose()
    } catch (error) {
      this.parts.report(error)
    }
    try {
      await this.session.close()
    } finally {
      this.parts.live.close()
      this.onDisposed(this)
    }
  }

  private assertUsable(): void {
    if (!this.ending) return
    throw new AgentError(`agent "${this.id}" is disposed; create it again from its session`, 'AGENT_DISPOSED')
  }

  private wake(): void {
    if (this.loop !== undefined || this.ending) return
    this.active = new ActiveTurn()
    this.setStatus('running')
    this.loop = this.run()
  }

  /** Never rejects. */
  private async run(): Promise<void> {
    await Promise.resolve() // messages sent together are claimed together
    const { inbox, hooks, report } = this.parts
    try {
      while (inbox.wakes() && !this.ending) {
        this.active ??= new ActiveTurn()
        const ended = await runTurn(this.parts, this.active)
        this.active = undefined
        emitContained(hooks['agent/turn-end'], this, [{ agent: this, ...ended }], report)
      }
    } catch (error) {
      report(error)
    }
    this.active = undefined
    this.loop = undefined
    this.setStatus('idle')
  }

  private setStatus(status: AgentStatus): void {
    const { live, hooks, report } = this.parts
    live.setStatus(status)
    emitContained(hooks['agent/status'], this, [{ agent: this, status }], report)
  }
}
