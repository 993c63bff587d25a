// Public surface of @deepseek-ai/dsh-pwsh-local. Anything added here is public.
export type { PwshLocalConfig, PwshLocalOptions } from './config.ts'
export { PwshLocal, PwshLocal as default } from './pwsh-local.ts'
