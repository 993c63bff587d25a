// Finds PowerShell once, at start: PowerShell 7 before Windows PowerShell, which is on every Windows.
import { lstatSync } from 'node:fs'
import { posix, win32 } from 'node:path'
import { ShellError } from '@deepseek-ai/dsh-shell'
import { isExecutable } from '@deepseek-ai/dsh-shell/executor'

export interface PwshSearch {
  pwshPath: string | undefined
  env: Readonly<Record<string, string | undefined>>
  platform: NodeJS.Platform
  /** May the file be run? */
  isProgram: (file: string) => boolean
}

/** Absolute path of PowerShell. Throws `SHELL_NOT_FOUND`. */
export function findPwsh({ pwshPath, env, platform, isProgram }: PwshSearch): string {
  if (pwshPath !== undefined) {
    const file = (platform === 'win32' ? win32 : posix).resolve(pwshPath)
    if (isProgram(file)) return file
    throw new ShellError(`pwshPath ${JSON.stringify(pwshPath)} is no program; correct it`, 'SHELL_NOT_FOUND')
  }
  const candidates = platform === 'win32' ? windowsCandidates(env) : onPath(env['PATH'], 'pwsh', posix)
  const found = candidates.find(isProgram)
  if (found !== undefined) return found
  throw new ShellError('no PowerShell on this machine; install PowerShell 7 (pwsh) or set pwshPath', 'SHELL_NOT_FOUND')
}

function windowsCandidates(env: PwshSearch['env']): string[] {
  // Variable names have no case on Windows, but those of a plain object do.
  const upper = new Map(Object.entries(env).map(([name, value]) => [name.toUpperCase(), value]))
  const programs = upper.get('PROGRAMFILES')
  const system = upper.get('SYSTEMROOT') ?? 'C:\\Windows'
  return [
    ...(programs === undefined ? [] : [win32.join(programs, 'PowerShell', '7', 'pwsh.exe')]),
    ...onPath(upper.get('PATH'), 'pwsh.exe', win32),
    win32.join(system, 'System32', 'WindowsPowerShell', 'v1.0', 'powershell.exe'),
  ]
}

/** A relative entry means the current folder, where a project could plant a shell of its own. */
function onPath(searchPath: string | undefined, name: string, path: typeof posix): string[] {
  return (searchPath ?? '')
    .split(path.delimiter)
    .map((folder) => folder.replaceAll('"', ''))
    .filter((folder) => path.isAbsolute(folder))
    .map((folder) => path.join(folder, name))
}

/** On Windows by lstat: a Store alias is a link that nothing but the loader can follow. */
export function isProgram(file: string): boolean {
  if (process.platform !== 'win32') return isExecutable(file)
  try {
    const stat = lstatSync(file)
    return stat.isFile() || stat.isSymbolicLink()
  } catch {
    return false // missing or closed to us: either way not this one
  }
}
