// Public surface of @deepseek-ai/dsh-shell. Anything added here is public.
export { ShellError, type ShellErrorCode } from './errors.ts'
export { HeadTail } from './output.ts'
export { Shell, Shell as default, type ShellDialect } from './shell.ts'
export type * from './types.ts'
