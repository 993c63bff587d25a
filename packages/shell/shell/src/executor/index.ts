// Public surface of @deepseek-ai/dsh-shell/executor: the core of local providers. Node only. Anything added here is public.
export { LocalExecutor, type Dialect, type ExecutorLimits } from './local-executor.ts'
export type { Argv } from './execution.ts'
