// Public surface of @deepseek-ai/dsh-tool-pwsh. Anything added here is public.
export { apply, Config, inject, name, pwshTool } from './tool.ts'
