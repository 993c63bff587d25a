// Moves a hook aside so that git does not run it. Nothing is deleted, and nothing outside the roots is touched.
import { constants, closeSync, fchmodSync, fstatSync, lstatSync, openSync, realpathSync, renameSync } from 'node:fs'
import { basename, dirname, join, sep } from 'node:path'

/** Its new name, or `undefined` when it was left as it is. */
export function quarantine(hook: string, roots: readonly string[]): string | undefined {
  try {
    const folder = realpathSync(dirname(hook))
    if (!roots.some((root) => folder.startsWith(root + sep))) return undefined
    const name = freeName(folder, basename(hook))
    removeExecution(hook)
    renameSync(hook, join(folder, name))
    return name
  } catch {
    // Gone meanwhile, or not ours to move: the warning tells of it all the same.
    return undefined
  }
}

function freeName(folder: string, name: string): string {
  const names = (count: number) => `${name}.quarantined${count === 1 ? '' : `-${count}`}`
  let count = 1
  while (lstatSync(join(folder, names(count)), { throwIfNoEntry: false })) count++
  return names(count)
}

/** Through a descriptor that follows no link; a file with other names may be anybody's, and its name alone is changed. */
function removeExecution(hook: string): void {
  let descriptor: number
  try {
    descriptor = openSync(hook, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch {
    // A link, or closed to us: under its new name git does not run it either.
    return
  }
  try {
    const info = fstatSync(descriptor)
    if (info.isFile() && info.nlink === 1) fchmodSync(descriptor, info.mode & 0o666)
  } finally {
    closeSync(descriptor)
  }
}
