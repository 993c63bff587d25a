// Public surface of @deepseek-ai/dsh-terminal-pty. Anything added here is public.
export { apply, Config, inject, name } from './plugin.ts'
export { PtyBackend } from './backend.ts'
export type { TerminalPtyConfig, TerminalPtyOptions } from './config.ts'
