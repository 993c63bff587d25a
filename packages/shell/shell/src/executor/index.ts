// Public surface of @deepseek-ai/dsh-shell/executor: the core of local providers. Node only. Anything added here is public.
export {
  bashConfig,
  bashConfigSchema,
  bashDialect,
  findBash,
  isExecutable,
  type BashConfig,
  type BashOptions,
} from './bash.ts'
export { EXECUTOR_CHECKS, EXECUTOR_DEFAULTS, type ExecutorLimits } from './config.ts'
export { QUIET_ENVIRONMENT, commandEnvironment } from './environment.ts'
export type { Argv } from './execution.ts'
export { LocalShell } from './local-shell.ts'
export { LocalExecutor, type Confine, type Dialect, type ExecutorOptions, type Invocation } from './local-executor.ts'
export { linuxTable } from './process-table.ts'
export { ProcessTree } from './process-tree.ts'
export { Watchdog } from './watchdog.ts'
export { workdirProblem } from './workdir.ts'
