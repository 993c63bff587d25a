// Public surface of @deepseek-ai/dsh-tools. Anything added here is public.
export { contentText } from './presentation.ts'
export type * from './presentation.ts'
export type * from './types.ts'
export type * from './schema/types.ts'
