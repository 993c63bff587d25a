// `ctx.approval`: puts a call before a person, or answers from what they have granted. Owns the standing questions; what a grant covers
// is the business of `grants.ts`, enforcing an answer that of whoever asked.
import { randomUUID } from 'node:crypto'
import { Service, errorMessage, fillDefaults, lightEffect, scopeChain, type Context } from '@deepseek-ai/cordis'
import type { Session, Sessions } from '@deepseek-ai/dsh-session'
import { snapshotJson } from '@deepseek-ai/dsh-tools'
import { checkedAnswer } from './answers.ts'
import { toolApprover } from './approver.ts'
import { APPROVAL_DEFAULTS, approvalConfig } from './config.ts'
import { ApprovalError } from './errors.ts'
import { GrantBook, answeringGrant, prefixesFor, type Grants, type Place } from './grants.ts'
import { suggestPrefix } from './shell/prefix.ts'
import type {
  ApprovalAnswer,
  ApprovalAnswerer,
  ApprovalConfig,
  ApprovalOutcome,
  ApprovalRequest,
  ApprovalService,
  PendingApproval,
  StandingGrant,
} from './types.ts'

declare module '@deepseek-ai/cordis' {
  interface Context {
    approval: Approval
  }
}

/** The session of calls that belong to none. */
const NO_SESSION = ''

type Question = Omit<PendingApproval, 'askedAt'>

interface Standing {
  readonly pending: PendingApproval
  readonly place: Place
  readonly grants: Grants
  /** Only the first call has an effect. */
  readonly settle: (outcome: ApprovalOutcome, by?: 'user') => void
}

export class Approval extends Service implements ApprovalService {
  static override readonly name = 'approval'
  static readonly Config = approvalConfig

  private readonly own: Context
  private readonly config: ApprovalConfig
  private readonly warn: (message: string) => void
  private readonly book = new GrantBook()
  private readonly standing = new Map<string, Standing>()
  private readonly answerers = new Set<ApprovalAnswerer>()
  private readonly listeners = new Set<(sessionId: string) => void>()
  private sessions: Sessions | undefined
  private stopped = false

  constructor(ctx: Context, options: Partial<ApprovalConfig> = {}) {
    super(ctx, 'approval')
    const tracker = Reflect.get(this, Service.tracker) as { noShadow?: boolean }
    tracker.noShadow = true
    this.own = ctx
    this.config = fillDefaults(APPROVAL_DEFAULTS, options)
    const logger = ctx.logger('approval')
    this.warn = (message) => logger.warn('%s', message)
  }

  *[Service.init](): Generator<() => void, void, void> {
    const { own } = this
    own.inject(['sessions'], (child) => {
      this.sessions = child.sessions
      return () => {
        this.cancel(({ session }) => session !== undefined)
        this.sessions = undefined
      }
    })
    own.inject(['tools'], (child) => void child.tools.provideApproval(toolApprover(this)))
    own.on('session/deleted', (id) => this.cancel(({ sessionId }) => sessionId === id))
    own.on('session/changed', () => this.cancel(({ session }) => session?.open === false))
    yield () => {
      this.stopped = true
      this.cancel(() => true)
    }
  }

  async request(request: ApprovalRequest): Promise<ApprovalOutcome> {
    try {
      return await this.decide(request)
    } catch (error) {
      this.warn(`a question of tool "${request.toolName}" could not be put: ${errorMessage(error)}`)
      return { kind: 'unavailable' }
    }
  }

  pending(sessionId: string): readonly PendingApproval[] {
    return [...this.standing.values()].map(({ pending }) => pending).filter((each) => each.sessionId === sessionId)
  }

  answer(id: string, answer: ApprovalAnswer): void {
    const standing = this.standing.get(id)
    if (standing === undefined) throw notFound(`the question ${JSON.stringify(id)} does not stand any more`)
    const { pending, place, grants } = standing
    if (place.session?.open === false) {
      standing.settle({ kind: 'cancelled' })
      throw notFound(`the session of the question ${JSON.stringify(id)} has ended`)
    }
    const checked = checkedAnswer(answer, pending, grants)
    if (checked.kind === 'reject') {
      const { feedback } = checked
      return standing.settle(feedback === undefined ? { kind: 'rejected' } : { kind: 'rejected', feedback }, 'user')
    }
    const { grant } = checked
    if (grant.kind === 'once') return standing.settle({ kind: 'allowed', by: 'person', grant }, 'user')
    const { toolName, subject, widening } = pending
    const kept: StandingGrant = {
      id: randomUUID(),
      grantedAt: Date.now(),
      grant,
      toolName,
      subjectKind: subject.kind,
      ...(widening === undefined ? {} : { widening }),
    }
    this.book.add(place, kept)
    standing.settle({ kind: 'allowed', by: 'person', grant, grantId: kept.id }, 'user')
  }

  async grants(sessionId: string): Promise<readonly StandingGrant[]> {
    return (await this.book.of(this.placeOf(sessionId)))()
  }

  async revoke(sessionId: string, grantId: string): Promise<void> {
    const place = this.placeOf(sessionId)
    const grants = await this.book.of(place)
    if (!grants().some(({ id }) => id === grantId)) {
      throw notFound(`the session ${JSON.stringify(sessionId)} has no grant ${JSON.stringify(grantId)} (any more)`)
    }
    this.book.remove(place, grantId)
    this.changed(sessionId)
  }

  registerAnswerer(answerer: ApprovalAnswerer): () => void {
    return lightEffect(this.ctx.fiber, 'approval.registerAnswerer', () => {
      this.answerers.add(answerer)
      return () => {
        this.answerers.delete(answerer)
        // Whom nobody can answer any more must not wait for ever.
        for (const { pending, settle } of this.standing.values()) {
          if (!this.canAnswer(pending.sessionId)) settle({ kind: 'unavailable' })
        }
      }
    })
  }

  subscribe(listener: (sessionId: string) => void): () => void {
    // A wrapper of its own lets the same function be registered twice and removed once.
    const entry = (sessionId: string): void => listener(sessionId)
    return lightEffect(this.ctx.fiber, 'approval.subscribe', () => {
      this.listeners.add(entry)
      return () => void this.listeners.delete(entry)
    })
  }

  private async decide(request: ApprovalRequest): Promise<ApprovalOutcome> {
    const { agent, signal } = request
    const place = this.placeOf(agent?.id ?? NO_SESSION)
    const question = questionOf(request, place.sessionId)
    const gone = (): boolean => signal.aborted || place.session?.open === false
    if (gone()) return this.decided(place, question, { kind: 'cancelled' })
    const grants = await this.grantsAt(place)
    if (gone()) return this.decided(place, question, { kind: 'cancelled' })
    const grant = answeringGrant(grants(), question)
    if (grant !== undefined) {
      const outcome = { kind: 'allowed', by: 'grant', grant: grant.grant, grantId: grant.id } as const
      return this.decided(place, question, outcome)
    }
    const full = withSuggestion(question, grants)
    const { sessionId: _, ...asked } = full
    this.log(place, (session) => session.append('approval/asked', asked))
    if (this.stopped || this.config.policy === 'never' || !this.canAnswer(place.sessionId)) {
      return this.decided(place, question, { kind: 'unavailable' }, question.id)
    }
    return this.stand({ ...full, askedAt: Date.now() }, place, grants, request)
  }

  /** Puts the question up until somebody answers or something ends it. */
  private stand(
    pending: PendingApproval,
    place: Place,
    grants: Grants,
    { agent, signal }: ApprovalRequest,
  ): Promise<ApprovalOutcome> {
    return new Promise((resolve) => {
      const release: (() => void)[] = []
      const settle: Standing['settle'] = (outcome, by) => {
        if (!this.standing.delete(pending.id)) return
        release.forEach((undo) => undo())
        resolve(this.decided(place, pending, outcome, pending.id, by))
        this.changed(pending.sessionId)
      }
      this.standing.set(pending.id, { pending, place, grants, settle })
      const cancel = (): void => settle({ kind: 'cancelled' })
      signal.addEventListener('abort', cancel)
      release.push(() => signal.removeEventListener('abort', cancel))
      const { timeoutMs } = this.config
      if (timeoutMs > 0) {
        const timer = setTimeout(() => settle({ kind: 'timed-out', afterMs: timeoutMs }), timeoutMs)
        release.push(() => clearTimeout(timer))
      }
      const scope = scopeChain(agent)[0]
      try {
        if (scope !== undefined) release.push(lightEffect(scope.ctx.fiber, 'approval.question', () => cancel))
      } catch {
        cancel() // the agent is ending: its scope takes no more effects
      }
      this.changed(pending.sessionId)
    })
  }

  /** Logs an outcome and returns it. `id` is left out when nobody was asked. */
  private decided(
    place: Place,
    { callId, toolName }: Question,
    outcome: ApprovalOutcome,
    id?: string,
    by?: 'user',
  ): ApprovalOutcome {
    const event = {
      ...(id === undefined ? {} : { id }),
      callId,
      toolName,
      outcome,
      ...(by === undefined ? {} : { by }),
    }
    this.log(place, (session) => session.append('approval/decided', event))
    return outcome
  }

  /** A session that has ended or cannot be written to must not keep an outcome from whoever waits for it. */
  private log({ session }: Place, append: (session: Session) => void): void {
    if (session?.open !== true) return
    try {
      append(session)
    } catch (error) {
      this.warn(`the log of the session ${session.id} takes no approvals: ${errorMessage(error)}`)
    }
  }

  /** Grants that cannot be read do not hold. */
  private async grantsAt(place: Place): Promise<Grants> {
    try {
      return await this.book.of(place)
    } catch (error) {
      this.warn(`the grants of the session ${place.sessionId} cannot be read: ${errorMessage(error)}`)
      return () => []
    }
  }

  private placeOf(sessionId: string): Place {
    return { sessionId, session: this.sessions?.get(sessionId) }
  }

  private canAnswer(sessionId: string): boolean {
    for (const answerer of this.answerers) {
      try {
        if (answerer.canAnswer(sessionId)) return true
      } catch (error) {
        this.warn(`an answerer failed: ${errorMessage(error)}`)
      }
    }
    return false
  }

  private cancel(concerns: (place: Place) => boolean): void {
    for (const { place, settle } of this.standing.values()) if (concerns(place)) settle({ kind: 'cancelled' })
  }

  private changed(sessionId: string): void {
    for (const listener of this.listeners) {
      try {
        listener(sessionId)
      } catch (error) {
        this.warn(`a subscriber failed: ${errorMessage(error)}`)
      }
    }
  }
}

/** What is shown, logged and remembered is what was asked, whatever the asker does to its objects later. */
function questionOf(request: ApprovalRequest, sessionId: string): Question {
  const { callId, toolName, subject, reason, widening } = request
  const plain = { id: randomUUID(), sessionId, callId, toolName, subject, reason }
  return snapshotJson(widening === undefined ? plain : { ...plain, widening }) as unknown as Question
}

function withSuggestion(question: Question, grants: Grants): Question {
  const { subject } = question
  if (subject.kind !== 'command' || subject.dialect !== 'bash') return question
  const suggestedPrefix = suggestPrefix(subject.command, prefixesFor(grants(), question))
  return suggestedPrefix === undefined ? question : { ...question, suggestedPrefix }
}

const notFound = (message: string): ApprovalError => new ApprovalError(message, 'APPROVAL_NOT_FOUND')

export default Approval
