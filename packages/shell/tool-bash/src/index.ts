// Public surface of @deepseek-ai/dsh-tool-bash. Anything added here is public.
export { apply, bashTool, Config, inject, name } from './tool.ts'
export type { ShellArgs as BashArgs, ShellValue as BashValue } from '@deepseek-ai/dsh-shell-tool'
