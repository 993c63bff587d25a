// Public surface of @deepseek-ai/dsh-tool-fs-search. Anything added here is public.
export { apply, globTool, grepTool, inject, name } from './tools.ts'
export { Config, type SearchConfig } from './config.ts'
export { SearchError, type SearchErrorCode } from './errors.ts'
export type { GlobArgs, GlobValue } from './glob-schema.ts'
export type { GrepArgs, GrepValue } from './grep-schema.ts'
export type { ReadPolicies, ReadPolicy, SearchServices } from './services.ts'
