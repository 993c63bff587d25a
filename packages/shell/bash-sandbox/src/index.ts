// Public surface of @deepseek-ai/dsh-bash-sandbox. Anything added here is public.
export { BashSandbox, BashSandbox as default } from './bash-sandbox.ts'
export type {
  BashConfig as BashSandboxConfig,
  BashOptions as BashSandboxOptions,
} from '@deepseek-ai/dsh-shell/executor'
