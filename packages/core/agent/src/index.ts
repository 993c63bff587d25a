// Public surface of @deepseek-ai/dsh-agent. Anything added here is public.
export type * from './types.ts'
