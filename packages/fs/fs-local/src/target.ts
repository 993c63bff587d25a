// From a path as somebody spells it to the one file that is meant: the real path, whether it exists yet or not.
import { readdirSync, readlinkSync, realpathSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'
import { FsError, type FsTarget } from '@deepseek-ai/dsh-fs'

/** Throws `FS_NOT_FOUND` for a blank path. */
export function resolveTarget(path: string, cwd: string): FsTarget {
  if (path.trim() === '') throw new FsError('the path is blank; say which file', 'FS_NOT_FOUND')
  const absolute = isAbsolute(path) ? resolve(path) : resolve(cwd, path)
  const real = realOf(absolute)
  if (real !== undefined) return { key: real, path: absolute }
  const found = asSpelled(absolute)
  return { key: realPath(found), path: found }
}

/** As many links as Linux follows. */
const MAX_LINKS = 40

/**
 * The real path; for what does not exist, that of the nearest real parent with the rest behind it. A link to nothing counts as what it leads
 * to, from the folder where it really is. Links that lead in a circle end at one of them.
 */
function realPath(path: string, links = 0): string {
  const real = realOf(path)
  if (real !== undefined) return real
  const parent = dirname(path)
  if (parent === path) return path
  const place = join(realPath(parent, links), basename(path))
  const to = links < MAX_LINKS ? linkAt(place) : undefined
  return to === undefined ? place : realPath(resolve(dirname(place), to), links + 1)
}

function realOf(path: string): string | undefined {
  try {
    return realpathSync.native(path)
  } catch {
    return undefined // missing, closed to us, or a link to nothing
  }
}

function linkAt(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined // no link
  }
}

/**
 * Names come in several Unicode forms, with odd spaces and quotes, and look the same. When the name as given is not there, and exactly one
 * that looks like it is, that one is meant.
 */
function asSpelled(path: string): string {
  if (realOf(path) !== undefined) return path
  const parent = dirname(path)
  if (parent === path) return path
  const folder = asSpelled(parent)
  const name = basename(path)
  const same = join(folder, name)
  if (folder !== parent && realOf(same) !== undefined) return same
  const alike = namesIn(folder).filter((each) => folded(each) === folded(name))
  return alike.length === 1 ? join(folder, alike[0]!) : same
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
