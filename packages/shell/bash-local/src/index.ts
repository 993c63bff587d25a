// Public surface of @deepseek-ai/dsh-bash-local. Anything added here is public.
export { BashLocal, BashLocal as default } from './bash-local.ts'
export type { BashLocalConfig, BashLocalOptions } from './config.ts'
export type { ConfigIssue } from '@deepseek-ai/cordis'
