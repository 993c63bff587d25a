// Public surface of @deepseek-ai/dsh-sandbox. Anything added here is public.
export { SandboxError, type SandboxErrorCode } from './errors.ts'
export { Sandbox } from './sandbox.ts'
export type * from './policy-types.ts'
export { SANDBOX_MODES } from './types.ts'
export type * from './types.ts'
