// Bash as a dialect: where it is, how it is called, and the configuration that all providers of it share.
import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, isAbsolute, join, resolve } from 'node:path'
import { configSchema, fillDefaults, nonBlankText, type ConfigSchema } from '@deepseek-ai/cordis'
import { ShellError } from '../errors.ts'
import { EXECUTOR_CHECKS, EXECUTOR_DEFAULTS, type ExecutorLimits } from './config.ts'
import { QUIET_ENVIRONMENT } from './environment.ts'
import type { Dialect } from './local-executor.ts'

export interface BashConfig extends ExecutorLimits {
  /** Path of the shell. Omitted: the first `bash` on the host's PATH. */
  shellPath?: string
}

/** What a composition may write: every field has a default. */
export type BashOptions = Partial<BashConfig>

/** `provider` begins each message. */
export function bashConfigSchema(provider: string): ConfigSchema<BashConfig> {
  return configSchema<BashConfig>(provider, EXECUTOR_DEFAULTS, { ...EXECUTOR_CHECKS, shellPath: nonBlankText })
}

export function bashConfig(options: BashOptions): BashConfig {
  return fillDefaults<BashConfig>(EXECUTOR_DEFAULTS, options)
}

/** `bash -c <command>`: no login, no startup file but `BASH_ENV`. Throws `SHELL_NOT_FOUND`. */
export function bashDialect(shellPath: string | undefined): Dialect {
  const bash = findBash(shellPath, process.env.PATH ?? '')
  return { quiet: QUIET_ENVIRONMENT, invoke: (command) => ({ argv: [bash, '-c', command] }) }
}

/** Absolute path of bash, looked up once so that no call searches PATH. Throws `SHELL_NOT_FOUND`. */
export function findBash(shellPath: string | undefined, searchPath: string): string {
  if (shellPath !== undefined) {
    const file = resolve(shellPath)
    if (isExecutable(file)) return file
    throw new ShellError(`shellPath ${JSON.stringify(shellPath)} is no executable file; correct it`, 'SHELL_NOT_FOUND')
  }
  for (const folder of searchPath.split(delimiter)) {
    // An empty or relative entry means the current folder, where a project could plant a shell of its own.
    if (!isAbsolute(folder)) continue
    const file = join(folder, 'bash')
    if (isExecutable(file)) return file
  }
  throw new ShellError('no bash on PATH; install bash or set shellPath', 'SHELL_NOT_FOUND')
}

/** True for a regular file, links followed, that this user may execute. */
export function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false // missing or closed to us: either way not this one
  }
}
