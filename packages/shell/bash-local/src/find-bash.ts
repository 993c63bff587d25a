// Finds the shell once, at start, so that no call searches PATH and a machine without one is told at boot.
import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, isAbsolute, join, resolve } from 'node:path'
import { ShellError } from '@deepseek-ai/dsh-shell'

/** Absolute path of bash. Throws `SHELL_NOT_FOUND`. */
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

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false // missing or closed to us: either way not this one
  }
}
