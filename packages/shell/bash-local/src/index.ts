// Public surface of @deepseek-ai/dsh-bash-local. Anything added here is public.
export { BashLocal, BashLocal as default } from './bash-local.ts'
export type { BashLocalConfig, BashLocalOptions, ConfigIssue } from './config.ts'
