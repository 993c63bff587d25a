// Where a command runs: an explicit folder must be usable; a default that has vanished is replaced and the result says so.
import { accessSync, constants } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, isAbsolute, resolve } from 'node:path'
import { ShellError } from '../errors.ts'

export interface WorkdirRequest {
  workdir: string | undefined
  /** Defaults from strong to weak, read lazily: the host's own folder may be gone as well. */
  defaults: readonly (() => string | undefined)[]
}

/** The folder to run in, absolute. Throws `SHELL_WORKDIR_UNUSABLE` when the explicit one cannot be used. */
export function resolveWorkdir({ workdir, defaults }: WorkdirRequest): string {
  if (workdir !== undefined && isAbsolute(workdir)) return usable(workdir)
  const base = firstDefault(defaults)
  return workdir === undefined ? nearestFolder(base) : usable(resolve(base, workdir))
}

/** What is wrong with a folder, or undefined when a command can run there. */
export function workdirProblem(folder: string): string | undefined {
  try {
    // The dot makes one call of it: below something that is not a folder there is no dot.
    accessSync(folder.endsWith('/') ? folder : `${folder}/.`, constants.X_OK)
    return undefined
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return 'does not exist'
    if (code === 'ENOTDIR') return 'is not a folder'
    return code === 'EACCES' || code === 'EPERM' ? 'may not be entered' : `cannot be used (${code ?? String(error)})`
  }
}

export function unusableWorkdir(folder: string, problem: string, cause?: unknown): ShellError {
  const message = `workdir ${JSON.stringify(folder)} ${problem}; name an existing folder or omit workdir`
  return new ShellError(message, 'SHELL_WORKDIR_UNUSABLE', cause === undefined ? {} : { cause })
}

function usable(folder: string): string {
  const problem = folder.includes('\0') ? 'contains a NUL character' : workdirProblem(folder)
  if (problem !== undefined) throw unusableWorkdir(folder, problem)
  return folder
}

function firstDefault(defaults: readonly (() => string | undefined)[]): string {
  for (const each of defaults) {
    try {
      const folder = each()
      if (folder !== undefined) return folder
    } catch {
      // process.cwd() throws once the host's own folder has been deleted: the next default applies.
    }
  }
  return homedir()
}

function nearestFolder(folder: string): string {
  let candidate = resolve(folder)
  while (workdirProblem(candidate) !== undefined) {
    const parent = dirname(candidate)
    if (parent === candidate) return parent
    candidate = parent
  }
  return candidate
}
