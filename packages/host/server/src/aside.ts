// What stands beside a conversation: approvals, questions, jobs, terminals and the permission of a session. Gathers it from services that a host may
// or may not have, and tells viewers when it has changed.
import { HarnessError, errorMessage, type Context } from '@deepseek-ai/cordis'
import type { Agent } from '@deepseek-ai/dsh-agent'
import type { ApprovalService } from '@deepseek-ai/dsh-approval'
import type { Fs } from '@deepseek-ai/dsh-fs'
import type { JobService } from '@deepseek-ai/dsh-jobs'
import { SANDBOX_MODES, type Sandbox, type SandboxPolicies, type SandboxStatus } from '@deepseek-ai/dsh-sandbox'
import type { Session } from '@deepseek-ai/dsh-session'
import type { SpillService } from '@deepseek-ai/dsh-spill'
import type { TerminalService } from '@deepseek-ai/dsh-terminal'
import type { UserQuestionService } from '@deepseek-ai/dsh-user-questions'
import { ServerError } from './errors.ts'
import type { AsideFrame } from './protocol.ts'

/** By their names in the context. Each comes and goes with its plugin. */
export interface AsideServices {
  approval?: ApprovalService
  userQuestions?: UserQuestionService
  jobs?: JobService
  terminals?: TerminalService
  sandboxPolicy?: SandboxPolicies
  sandbox?: Sandbox
  spill?: SpillService
  fs?: Fs
}

export interface AsideSources {
  agent(id: string): Agent | undefined
  session(id: string): Session | undefined
  warn(message: string): void
}

/** Changes that come closer than this are told together. */
const GATHER_MS = 100

export class Aside {
  readonly services: AsideServices = {}
  private readonly sources: AsideSources
  private readonly listeners = new Map<string, Set<() => void>>()
  private readonly timers = new Map<string, NodeJS.Timeout>()
  /** Sessions that a person has opened, written to or looked at. What they ask stands until the person comes back to it. */
  private readonly used = new Set<string>()
  private status: SandboxStatus | undefined

  constructor(sources: AsideSources) {
    this.sources = sources
  }

  /** Follows the services of a host for as long as the calling fiber lives. */
  follow(ctx: Context): void {
    const person = { canAnswer: (id: string) => this.used.has(id) }
    const touch = (id: string): void => this.touch(id)
    const touchOwner = (owner: { readonly id: string } | undefined): void => {
      if (owner !== undefined) this.touch(owner.id)
    }
    this.whenThere(ctx, 'approval', (approval) => [approval.registerAnswerer(person), approval.subscribe(touch)])
    this.whenThere(ctx, 'userQuestions', (questions) => [
      questions.registerAnswerer(person),
      questions.subscribe(touch),
    ])
    this.whenThere(ctx, 'jobs', (jobs) => [jobs.subscribe(touchOwner)])
    this.whenThere(ctx, 'terminals', (terminals) => [terminals.subscribe(touchOwner)])
    this.whenThere(ctx, 'sandbox', () => {
      this.status = undefined
      return []
    })
    this.whenThere(ctx, 'sandboxPolicy')
    this.whenThere(ctx, 'spill')
    this.whenThere(ctx, 'fs')
    ctx.on('session/deleted', (id) => void this.used.delete(id))
    ctx.effect(() => () => this.timers.forEach((timer) => clearTimeout(timer)), 'server.aside')
  }

  /** A person uses the session: from now on its questions stand instead of being answered `unavailable`. */
  personUses(id: string): void {
    this.used.add(id)
  }

  /** The live agent of a session. Throws `SESSION_NOT_FOUND` when there is none. */
  agent(id: string): Agent {
    const agent = this.sources.agent(id)
    if (agent !== undefined) return agent
    throw new HarnessError(`the session "${id}" is not open`, 'SESSION_NOT_FOUND')
  }

  /** A service that a method needs. Throws `NOT_AVAILABLE`. */
  need<Name extends keyof AsideServices>(name: Name): NonNullable<AsideServices[Name]> {
    const service = this.services[name]
    if (service !== undefined) return service
    throw new ServerError(`this host has no "${name}": add the plugin that provides it`, 'NOT_AVAILABLE')
  }

  subscribe(id: string, listener: () => void): () => void {
    const listeners = this.listeners.get(id) ?? new Set()
    this.listeners.set(id, listeners.add(listener))
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0 && this.listeners.get(id) === listeners) this.listeners.delete(id)
    }
  }

  /** Something of the session has changed: viewers look again, soon. */
  touch(id: string): void {
    if (!this.listeners.has(id) || this.timers.has(id)) return
    const tell = (): void => {
      this.timers.delete(id)
      this.listeners.get(id)?.forEach((listener) => listener())
    }
    this.timers.set(id, setTimeout(tell, GATHER_MS))
  }

  async state(id: string): Promise<AsideFrame> {
    const { approval, userQuestions, jobs, terminals } = this.services
    // Without an agent there is nothing of its own; `undefined` as owner would mean what belongs to the host.
    const agent = this.sources.agent(id)
    const part = <T>(what: string, none: T, read: () => T): T => {
      try {
        return read()
      } catch (error) {
        this.sources.warn(`the ${what} of the session ${id} cannot be shown: ${errorMessage(error)}`)
        return none
      }
    }
    return {
      approvals: part('approvals', [], () => approval?.pending(id) ?? []),
      questions: part('questions', [], () => userQuestions?.pending(id) ?? []),
      grants: agent === undefined ? [] : ((await approval?.grants(id).catch(() => [])) ?? []),
      jobs: part('jobs', [], () => (agent === undefined ? [] : (jobs?.list(agent) ?? []))),
      promotable: part('running calls', [], () => (agent === undefined ? [] : (jobs?.promotables(agent) ?? []))),
      terminals: part('terminals', [], () => (agent === undefined ? [] : (terminals?.list(agent) ?? []))),
      permission: await this.permission(id),
    }
  }

  private async permission(id: string): Promise<AsideFrame['permission']> {
    const { sandboxPolicy: policies } = this.services
    const session = this.sources.session(id)
    if (policies === undefined || session === undefined) return null
    this.probe(id)
    try {
      const mode = await policies.modeOf(session)
      const { network } = policies
      const status = this.status === undefined ? {} : { status: this.status }
      return { mode, network, modes: SANDBOX_MODES, ...status }
    } catch (error) {
      this.sources.warn(`the permission of the session ${id} cannot be shown: ${errorMessage(error)}`)
      return null
    }
  }

  /** The probe takes a moment; its answer is told when it is there. */
  private probe(id: string): void {
    const { sandbox } = this.services
    if (sandbox === undefined || this.status !== undefined) return
    sandbox.status().then(
      (status) => {
        if (this.services.sandbox !== sandbox || this.status !== undefined) return
        this.status = status
        this.touch(id)
      },
      (error: unknown) => this.sources.warn(`the sandbox could not be probed: ${errorMessage(error)}`),
    )
  }

  /** Keeps a service while it is there; what `take` returns is undone when it goes. */
  private whenThere<Name extends keyof AsideServices>(
    ctx: Context,
    name: Name,
    take: (service: NonNullable<AsideServices[Name]>) => (() => unknown)[] = () => [],
  ): void {
    const { services } = this
    ctx.inject([name], (child) => {
      const service = child.get(name as never) as unknown as NonNullable<AsideServices[Name]>
      services[name] = service
      const undo = take(service)
      child.effect(
        () => () => {
          if (services[name] === service) delete services[name]
          undo.forEach((each) => void each())
        },
        `server.aside(${name})`,
      )
    })
  }
}
