// Public surface of @deepseek-ai/dsh-spill. Anything added here is public.
export { Spill, Spill as default } from './spill.ts'
export { spillConfig } from './config.ts'
export { SpillError, type SpillErrorCode } from './errors.ts'
export type * from './types.ts'
