// Asks the system what the user could do without any sandbox. This process is that user.
import { accessSync, constants, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { SandboxAccess } from '@deepseek-ai/dsh-sandbox'

/** By access(2). Writing counts as possible, too, where the folder lets the path be made, renamed or removed. */
export function userMay(path: string, access: SandboxAccess): boolean {
  if (access === 'read') return may(path, constants.R_OK)
  return may(path, constants.W_OK) || may(existingParent(path), constants.W_OK | constants.X_OK)
}

/**
 * Root only: the mode of the file lets a user without capabilities read but not write, so that it is the missing capability that
 * refused a write, and it cannot have been a read.
 */
export function needsCapability(path: string): boolean {
  if (process.getuid?.() !== 0) return false
  const stat = statSync(exists(path) ? path : existingParent(path), { throwIfNoEntry: false })
  if (!stat) return false
  const bits = stat.uid === 0 ? stat.mode >> 6 : stat.gid === 0 ? stat.mode >> 3 : stat.mode
  return (bits & 4) !== 0 && (bits & 2) === 0
}

function existingParent(path: string): string {
  let parent = dirname(path)
  while (!exists(parent) && parent !== dirname(parent)) parent = dirname(parent)
  return parent
}

function exists(path: string): boolean {
  return may(path, constants.F_OK)
}

function may(path: string, mode: number): boolean {
  try {
    accessSync(path, mode)
    return true
  } catch {
    // Whatever the error is, access was not given.
    return false
  }
}
