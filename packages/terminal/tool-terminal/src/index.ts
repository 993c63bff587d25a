// Public surface of @deepseek-ai/dsh-tool-terminal. Anything added here is public.
export { apply, Config, inject, name } from './plugin.ts'
export type { ToolTerminalConfig } from './config.ts'
export { terminalTools, type TerminalTools } from './tools.ts'
