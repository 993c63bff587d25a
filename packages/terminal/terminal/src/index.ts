// Public surface of @deepseek-ai/dsh-terminal. Anything added here is public.
export { TerminalError, type TerminalErrorCode } from './errors.ts'
export { Terminals, Terminals as default, type TerminalsConfig } from './terminals.ts'
export type * from './types.ts'
