// Public surface of @deepseek-ai/dsh-spill. Anything added here is public.
export { SpillError, type SpillErrorCode } from './errors.ts'
export type * from './types.ts'
