// Public surface of @deepseek-ai/dsh-bash-local. Anything added here is public.
export { BashLocal, BashLocal as default } from './bash-local.ts'
export type { BashConfig as BashLocalConfig, BashOptions as BashLocalOptions } from '@deepseek-ai/dsh-shell/executor'
export type { ConfigIssue } from '@deepseek-ai/cordis'
