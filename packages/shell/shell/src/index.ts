// Public surface of @deepseek-ai/dsh-shell. Anything added here is public.
export type * from './types.ts'
