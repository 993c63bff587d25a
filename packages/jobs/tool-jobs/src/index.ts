// Public surface of @deepseek-ai/dsh-tool-jobs. Anything added here is public.
export { Config, apply, inject, name } from './plugin.ts'
export type { ToolJobsConfig } from './config.ts'
export { jobKillTool, jobListTool, jobOutputTool } from './tools.ts'
export type { KillValue, ListValue, OutputValue } from './schema.ts'
