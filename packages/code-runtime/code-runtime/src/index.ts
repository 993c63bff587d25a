// Public surface of @deepseek-ai/dsh-code-runtime. Anything added here is public.
export { CodeRuntime, CodeRuntime as default } from './code-runtime.ts'
export { CodeRuntimeError, type CodeRuntimeErrorCode } from './errors.ts'
export type * from './types.ts'
