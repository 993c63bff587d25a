// What the session log keeps of questions. A secret answer is never among it.
import type { SessionEvent } from '@deepseek-ai/dsh-session'
import type { QuestionRequest } from './types.ts'

declare module '@deepseek-ai/dsh-session' {
  interface SessionEventMap {
    'question/asked': {
      readonly id: string
      readonly origin: QuestionRequest['origin']
      readonly question: string
      readonly options?: readonly string[]
      readonly secret: boolean
    }
    /** `text` only for an answer that is no secret. */
    'question/settled': {
      readonly id: string
      readonly outcome: 'answered' | 'dismissed' | 'cancelled' | 'unavailable'
      readonly text?: string
    }
  }
}

export type QuestionEvent = SessionEvent<'question/asked' | 'question/settled'>
