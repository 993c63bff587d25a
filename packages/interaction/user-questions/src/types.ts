// The contract of questions to the person at the screen. Safe in a browser: types only.
import type { ScopeKey } from '@deepseek-ai/cordis'
import type { ToolAgent } from '@deepseek-ai/dsh-tools'

export interface QuestionRequest {
  readonly agent: (ToolAgent & ScopeKey) | undefined
  /** The call or the terminal that asks. */
  readonly origin:
    | { readonly kind: 'call'; readonly callId: string }
    | { readonly kind: 'terminal'; readonly terminalId: string }
  readonly question: string
  /** What led to it, e.g. the last lines of a terminal. */
  readonly context?: string
  /** To choose from. Omitted: free text. */
  readonly options?: readonly string[]
  /** The answer is a secret: never logged, never told to a model, handed to the asker alone. The person may mark it so as well. */
  readonly secret: boolean
  readonly signal: AbortSignal
}

export type QuestionOutcome =
  | {
      readonly kind: 'answered'
      readonly text: string
      /** Asked as a secret or marked so by the person. */ readonly secret: boolean
    }
  /** The person does not want to answer. */
  | { readonly kind: 'dismissed' }
  /** The asker withdrew it, or the session ended. */
  | { readonly kind: 'cancelled' }
  /** Nobody can be reached. Said at once. */
  | { readonly kind: 'unavailable' }

/** A standing question. JSON. */
export interface PendingQuestion {
  readonly id: string
  readonly sessionId: string
  readonly origin: QuestionRequest['origin']
  readonly question: string
  readonly context?: string
  readonly options?: readonly string[]
  readonly secret: boolean
  readonly askedAt: number
}

/** Somebody who can put a question before a person. */
export interface QuestionAnswerer {
  canAnswer(sessionId: string): boolean
}

/** `ctx.userQuestions` */
export interface UserQuestionService {
  /** Never rejects. */
  ask(request: QuestionRequest): Promise<QuestionOutcome>
  pending(sessionId: string): readonly PendingQuestion[]
  /** `secret` may turn an answer into a secret, never back. Throws `QUESTION_NOT_FOUND`, `QUESTION_INVALID`. */
  answer(id: string, answer: { readonly text: string; readonly secret?: boolean }): void
  dismiss(id: string): void
  registerAnswerer(answerer: QuestionAnswerer): () => void
  subscribe(listener: (sessionId: string) => void): () => void
}
