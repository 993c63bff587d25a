// Public surface of @deepseek-ai/dsh-code-runtime-quickjs. Anything added here is public.
export { CodeRuntimeQuickjs, CodeRuntimeQuickjs as default } from './quickjs.ts'
export type { CodeRuntimeQuickjsConfig, CodeRuntimeQuickjsOptions } from './config.ts'
export type { ConfigIssue } from '@deepseek-ai/cordis'
