// Public surface of @deepseek-ai/dsh-code-runtime. Anything added here is public.
export { CodeRuntime, CodeRuntime as default } from './code-runtime.ts'
export type * from './types.ts'
