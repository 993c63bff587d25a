// `ctx.userQuestions`: puts a question before the person at the screen and hands the answer to who asked. Owns the standing questions.
// A secret answer goes to the asker alone: it is in no log, no event, no message and nothing that is kept.
import { randomUUID } from 'node:crypto'
import { Service, errorMessage, lightEffect, scopeChain, type Context } from '@deepseek-ai/cordis'
import type { Session, Sessions } from '@deepseek-ai/dsh-session'
import { snapshotJson } from '@deepseek-ai/dsh-tools'
import { QuestionError } from './errors.ts'
import type {
  PendingQuestion,
  QuestionAnswerer,
  QuestionOutcome,
  QuestionRequest,
  UserQuestionService,
} from './types.ts'

declare module '@deepseek-ai/cordis' {
  interface Context {
    userQuestions: UserQuestions
  }
}

/** The session of questions that belong to none. */
const NO_SESSION = ''

interface Standing {
  readonly pending: PendingQuestion
  readonly session: Session | undefined
  /** Only the first call has an effect. */
  readonly settle: (outcome: QuestionOutcome) => void
}

export class UserQuestions extends Service implements UserQuestionService {
  static override readonly name = 'user-questions'

  private readonly own: Context
  private readonly warn: (message: string) => void
  private readonly standing = new Map<string, Standing>()
  private readonly answerers = new Set<QuestionAnswerer>()
  private readonly listeners = new Set<(sessionId: string) => void>()
  private sessions: Sessions | undefined
  private stopped = false

  constructor(ctx: Context) {
    super(ctx, 'userQuestions')
    const tracker = Reflect.get(this, Service.tracker) as { noShadow?: boolean }
    tracker.noShadow = true
    this.own = ctx
    const logger = ctx.logger('user-questions')
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
    own.on('session/deleted', (id) => this.cancel(({ pending }) => pending.sessionId === id))
    own.on('session/changed', () => this.cancel(({ session }) => session?.open === false))
    yield () => {
      this.stopped = true
      this.cancel(() => true)
    }
  }

  async ask(request: QuestionRequest): Promise<QuestionOutcome> {
    try {
      return await this.put(request)
    } catch (error) {
      this.warn(`a question could not be put: ${errorMessage(error)}`)
      return { kind: 'unavailable' }
    }
  }

  pending(sessionId: string): readonly PendingQuestion[] {
    return [...this.standing.values()].map(({ pending }) => pending).filter((each) => each.sessionId === sessionId)
  }

  answer(id: string, answer: { readonly text: string; readonly secret?: boolean }): void {
    const { pending, settle } = this.find(id)
    const { text, secret } = answer
    // Note: the messages say nothing of the text, which may be a secret.
    if (typeof text !== 'string') throw invalid('an answer is text')
    const { options } = pending
    if (options !== undefined && !options.includes(text)) {
      throw invalid(`the answer is none of the options: ${options.map((option) => JSON.stringify(option)).join(', ')}`)
    }
    settle({ kind: 'answered', text, secret: pending.secret || Boolean(secret) })
  }

  dismiss(id: string): void {
    this.find(id).settle({ kind: 'dismissed' })
  }

  registerAnswerer(answerer: QuestionAnswerer): () => void {
    return lightEffect(this.ctx.fiber, 'userQuestions.registerAnswerer', () => {
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
    return lightEffect(this.ctx.fiber, 'userQuestions.subscribe', () => {
      this.listeners.add(entry)
      return () => void this.listeners.delete(entry)
    })
  }

  private async put(request: QuestionRequest): Promise<QuestionOutcome> {
    const { agent, signal } = request
    const sessionId = agent?.id ?? NO_SESSION
    const session = this.sessions?.get(sessionId)
    const pending = questionOf(request, sessionId)
    const { id, origin, question, options, secret } = pending
    this.log(session, (open) =>
      open.append('question/asked', { id, origin, question, ...(options === undefined ? {} : { options }), secret }),
    )
    if (signal.aborted) return this.settled(session, id, { kind: 'cancelled' })
    if (this.stopped || !this.canAnswer(sessionId)) return this.settled(session, id, { kind: 'unavailable' })
    return this.stand(pending, session, request)
  }

  /** Puts the question up until somebody answers or something ends it. */
  private stand(
    pending: PendingQuestion,
    session: Session | undefined,
    { agent, signal }: QuestionRequest,
  ): Promise<QuestionOutcome> {
    return new Promise((resolve) => {
      const release: (() => void)[] = []
      const settle: Standing['settle'] = (outcome) => {
        if (!this.standing.delete(pending.id)) return
        release.forEach((undo) => undo())
        resolve(this.settled(session, pending.id, outcome))
        this.changed(pending.sessionId)
      }
      this.standing.set(pending.id, { pending, session, settle })
      const cancel = (): void => settle({ kind: 'cancelled' })
      signal.addEventListener('abort', cancel)
      release.push(() => signal.removeEventListener('abort', cancel))
      const scope = scopeChain(agent)[0]
      try {
        if (scope !== undefined) release.push(lightEffect(scope.ctx.fiber, 'userQuestions.question', () => cancel))
      } catch {
        cancel() // the agent is ending: its scope takes no more effects
      }
      this.changed(pending.sessionId)
    })
  }

  /** Logs how a question ended, without the text of a secret, and returns the whole outcome. */
  private settled(session: Session | undefined, id: string, outcome: QuestionOutcome): QuestionOutcome {
    const told = outcome.kind === 'answered' && !outcome.secret ? { text: outcome.text } : {}
    this.log(session, (open) => open.append('question/settled', { id, outcome: outcome.kind, ...told }))
    return outcome
  }

  /** A session that has ended or cannot be written to must not keep an answer from whoever waits for it. */
  private log(session: Session | undefined, append: (open: Session) => void): void {
    if (session?.open !== true) return
    try {
      append(session)
    } catch (error) {
      this.warn(`the log of the session ${session.id} takes no questions: ${errorMessage(error)}`)
    }
  }

  private find(id: string): Standing {
    const standing = this.standing.get(id)
    if (standing?.session?.open === false) standing.settle({ kind: 'cancelled' })
    else if (standing !== undefined) return standing
    throw new QuestionError(`the question ${JSON.stringify(id)} does not stand any more`, 'QUESTION_NOT_FOUND')
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

  private cancel(concerns: (standing: Standing) => boolean): void {
    for (const standing of this.standing.values()) if (concerns(standing)) standing.settle({ kind: 'cancelled' })
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

/** What is shown is what was asked, whatever the asker does to its objects later. Throws for what is no question. */
function questionOf(request: QuestionRequest, sessionId: string): PendingQuestion {
  const { origin, question, context, options, secret } = request
  const plain = {
    id: randomUUID(),
    sessionId,
    origin,
    question,
    ...(context === undefined ? {} : { context }),
    ...(options === undefined ? {} : { options }),
    secret,
    askedAt: Date.now(),
  }
  return snapshotJson(plain) as unknown as PendingQuestion
}

const invalid = (message: string): QuestionError => new QuestionError(message, 'QUESTION_INVALID')

export default UserQuestions
