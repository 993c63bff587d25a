// Public surface of @deepseek-ai/dsh-system-prompt. Anything added here is public.
export type * from './types.ts'
