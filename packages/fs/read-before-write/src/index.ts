// Public surface of @deepseek-ai/dsh-read-before-write. Anything added here is public.
export { Config, apply, name } from './plugin.ts'
export type { ReadBeforeWriteConfig } from './config.ts'
export type * from './events.ts'
