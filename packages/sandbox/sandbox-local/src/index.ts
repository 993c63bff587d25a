// Public surface of @deepseek-ai/dsh-sandbox-local. Anything added here is public.
export { SandboxLocal, SandboxLocal as default } from './sandbox-local.ts'
export type { SandboxLocalConfig, SandboxLocalOptions } from './config.ts'
export { seatbeltProfile } from './seatbelt.ts'
