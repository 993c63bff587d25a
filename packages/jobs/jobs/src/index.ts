// Public surface of @deepseek-ai/dsh-jobs. Anything added here is public.
export { JobsError, type JobsErrorCode } from './errors.ts'
export type * from './types.ts'
