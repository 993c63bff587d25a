// Finds the two programs that make and enter a network namespace.
import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'

/** Absolute paths; a missing one is a program this machine does not have. */
export interface NetworkPrograms {
  readonly bwrap?: string | undefined
  readonly nsenter?: string | undefined
}

/** Before `PATH`, which may name folders that a command can write. */
const SYSTEM_FOLDERS = ['/usr/bin', '/bin', '/usr/sbin', '/sbin', '/usr/local/bin', '/run/current-system/sw/bin']

export const findPrograms = (path = process.env.PATH ?? ''): NetworkPrograms => ({
  bwrap: findProgram('bwrap', path),
  nsenter: findProgram('nsenter', path),
})

const findProgram = (name: string, path: string): string | undefined =>
  [...SYSTEM_FOLDERS, ...path.split(delimiter)]
    .filter((folder) => isAbsolute(folder))
    .map((folder) => join(folder, name))
    .find(isProgram)

const isProgram = (file: string): boolean => {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    // Absent or out of reach: either way not a program for us.
    return false
  }
}
