// Public surface of @deepseek-ai/dsh-user-questions. Anything added here is public.
export { UserQuestions, UserQuestions as default } from './questions.ts'
export { QuestionError, type QuestionErrorCode } from './errors.ts'
export type * from './events.ts'
export type * from './types.ts'
