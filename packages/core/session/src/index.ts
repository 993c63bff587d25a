// Public surface of @deepseek-ai/dsh-session. Anything added here is public.
export type * from './events.ts'
export type * from './types.ts'
