// What the user of this process reaches on the host without any capability: inside the runner even root has none.
import { statSync, type Stats } from 'node:fs'
import { dirname } from 'node:path'

/** Names the user and groups that permission bits are read for. */
export interface Identity {
  readonly uid: number
  readonly gids: ReadonlySet<number>
}

export function currentIdentity(): Identity {
  const gids = [process.getegid?.() ?? -1, ...(process.getuid?.() === 0 ? [] : (process.getgroups?.() ?? []))]
  return { uid: process.geteuid?.() ?? -1, gids: new Set(gids) }
}

/** Undefined when it does not exist or a folder above it is closed: then a command cannot get there either. */
export function reachableStat(path: string, who: Identity): Stats | undefined {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const stat = statOf(folder)
    if (stat === undefined || !permits(stat, 1, who)) return undefined
    if (folder === dirname(folder)) return statOf(path)
  }
}

export function canCreateIn(folder: string, who: Identity): boolean {
  const stat = reachableStat(folder, who)
  return stat !== undefined && permits(stat, 3, who)
}

function permits(stat: Stats, wanted: number, who: Identity): boolean {
  const shift = stat.uid === who.uid ? 6 : who.gids.has(stat.gid) ? 3 : 0
  return ((stat.mode >> shift) & wanted) === wanted
}

function statOf(path: string): Stats | undefined {
  try {
    return statSync(path)
  } catch {
    return undefined // missing, or closed to us
  }
}
