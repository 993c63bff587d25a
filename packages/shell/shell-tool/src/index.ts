// Public surface of @deepseek-ai/dsh-shell-tool. Anything added here is public.
export { shellToolConfig, type ShellToolConfig } from './config.ts'
export type { ShellArgs, ShellValue } from './schema.ts'
export type { ShellServices } from './services.ts'
export { applyShellTool, shellTool } from './tool.ts'
export type { ShellWording } from './wording.ts'
