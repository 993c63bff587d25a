// Public surface of @deepseek-ai/dsh-llm. Anything added here is public.
export { Llm, Llm as default } from './llm.ts'
export { LlmError, failureChunk, type LlmErrorCode } from './errors.ts'
export { nearestName } from './nearest.ts'
export { OFFLINE_PROVIDER } from './resolve.ts'
export type { LlmConfig } from './config.ts'
export type * from './types.ts'
