// From a path as somebody spells it to the one file that is meant: the real path, whether it exists yet or not.
import { readdirSync, realpathSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'
import { FsError, type FsTarget } from '@deepseek-ai/dsh-fs'
import { realPathOf } from '@deepseek-ai/dsh-sandbox'

/** Throws `FS_NOT_FOUND` for a blank path. */
export function resolveTarget(path: string, cwd: string): FsTarget {
  if (path.trim() === '') throw new FsError('the path is blank; say which file', 'FS_NOT_FOUND')
  const absolute = isAbsolute(path) ? resolve(path) : resolve(cwd, path)
  const found = asSpelled(absolute)
  return { key: realPathOf(found), path: found }
}

/**
 * Names come in several Unicode forms, with odd spaces and quotes, and look the same. When the name as given is not there, and exactly one
 * that looks like it is, that one is meant.
 */
function asSpelled(path: string): string {
  if (isThere(path)) return path
  const parent = dirname(path)
  if (parent === path) return path
  const folder = asSpelled(parent)
  const name = basename(path)
  const same = join(folder, name)
  if (folder !== parent && isThere(same)) return same
  const alike = namesIn(folder).filter((each) => folded(each) === folded(name))
  return alike.length === 1 ? join(folder, alike[0]!) : same
}

function isThere(path: string): boolean {
  try {
    realpathSync.native(path)
    return true
  } catch {
    return false // missing, dangling or closed to us
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return [] // no folder, or closed to us: the name stands as it is
  }
}

function folded(name: string): string {
  return name
    .normalize('NFC')
    .replace(/[\u00a0\u2000-\u200a\u202f\u205f\u3000]/g, ' ')
    .replace(/[\u2018\u2019]/g, "'")
    .replace(/[\u201c\u201d]/g, '"')
}
