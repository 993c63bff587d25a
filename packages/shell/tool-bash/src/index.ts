// Public surface of @deepseek-ai/dsh-tool-bash. Anything added here is public.
export { apply, bashTool, inject, name } from './tool.ts'
export type { BashArgs, BashValue } from './schema.ts'
