// Public surface of @deepseek-ai/dsh-llm. Anything added here is public.
export type * from './types.ts'
