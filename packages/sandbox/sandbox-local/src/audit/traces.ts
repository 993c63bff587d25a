// Reads what is dangerous in the git folders that were found: hooks, settings that name programs, redirections. Compares nothing.
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  type BigIntStats,
} from 'node:fs'
import { dirname, join, resolve, sep } from 'node:path'
import type { GitPlace } from './places.ts'
import { printable, quoted } from './printable.ts'
import { runningSettings } from './settings.ts'

export interface Trace {
  /** Differs when the thing was changed. */
  readonly stamp: string
  /** What it is and where, to stand after "the command made". */
  readonly text: string
  /** Its path, when it is a hook. */
  readonly hook?: string
}

type Traces = Map<string, Trace>

/** By a key that stays the same when the thing is changed. */
export function traces(places: readonly GitPlace[], roots: readonly string[]): Traces {
  const found: Traces = new Map()
  const folders = new Set<string>()
  const own = places.filter(({ kind }) => kind === 'folder').map(({ path }) => path)
  for (const place of places) {
    if (place.kind === 'link') addLink(found, place.path, 'where a repository is expected')
    if (place.kind === 'file') addPointer(found, place.path, own)
    const folder = gitFolderOf(place)
    if (folder !== undefined) for (const each of withInnerFolders(folder)) folders.add(each)
  }
  for (const folder of folders) addFolder(found, folder, roots)
  return found
}

function gitFolderOf({ path, kind }: GitPlace): string | undefined {
  if (kind === 'folder') return path
  const target = kind === 'link' ? path : pointerTarget(path)
  return target === undefined ? undefined : realPath(target)
}

function pointerTarget(file: string): string | undefined {
  const named = /^gitdir:\s*(.+?)\s*$/m.exec(textOf(file) ?? '')?.[1]
  return named === undefined ? undefined : resolve(dirname(file), named)
}

/** The folder itself, those of its submodules, and those of its linked worktrees. */
function withInnerFolders(folder: string): string[] {
  const worktrees = foldersIn(join(folder, 'worktrees'))
  return [folder, ...worktrees, ...submodules(join(folder, 'modules'), 4)]
}

/** A submodule's name is a path, so that its folder lies as deep. */
function submodules(folder: string, depth: number): string[] {
  if (depth === 0) return []
  return foldersIn(folder).flatMap((each) => (stat(join(each, 'HEAD')) ? [each] : submodules(each, depth - 1)))
}

function addFolder(found: Traces, folder: string, roots: readonly string[]): void {
  const common = join(folder, 'commondir')
  const named = textOf(common)
  // In a linked worktree's own folder it is two levels up, by git's own making.
  if (named !== undefined && !(named.trim() === '../..' && dirname(folder).endsWith(`${sep}worktrees`)))
    addFile(
      found,
      common,
      named,
      `${printable(common)}, by which git takes hooks and settings from ${printable(named.trim())}`,
    )
  for (const name of ['config', 'config.worktree']) addConfig(found, join(folder, name))
  addHooks(found, join(folder, 'hooks'), roots)
}

function addHooks(found: Traces, folder: string, roots: readonly string[]): void {
  if (stat(folder)?.isSymbolicLink()) return addLink(found, folder, 'where git looks for hooks')
  for (const name of namesIn(folder)) {
    const path = join(folder, name)
    if (/\.sample$|\.quarantined(-\d+)?$/.test(name)) continue
    const info = stat(path)
    if (!info || info.isDirectory()) continue
    const stamp = info.isSymbolicLink() ? `link ${linkTarget(path)}` : stampOf(info)
    const inside = roots.some((root) => path.startsWith(root + sep))
    found.set(`hook ${path}`, { stamp, text: `the git hook ${printable(path)}`, ...(inside ? { hook: path } : {}) })
    addHardLink(found, path, info)
  }
}

function addConfig(found: Traces, path: string): void {
  const info = stat(path)
  if (!info) return
  if (info.isSymbolicLink()) addLink(found, path, 'where git looks for settings')
  addHardLink(found, path, info)
  const text = textOf(path)
  if (text === undefined) {
    // A folder, or closed to us: git reads nothing there either. What is too large for us, it reads.
    if (info.size > LARGEST)
      found.set(`large ${path}`, {
        stamp: stampOf(info),
        text: `${printable(path)}, which is too large to be looked through`,
      })
    return
  }
  for (const [key, value] of runningSettings(text)) {
    const told = `the git setting ${printable(key)} = ${quoted(value)} in ${printable(path)}`
    found.set(`setting ${path} ${key}`, { stamp: value, text: told })
  }
}

/** Legitimate is a pointer of a submodule or linked worktree: into the git folder of a repository beside it. */
function addPointer(found: Traces, path: string, own: readonly string[]): void {
  const target = pointerTarget(path)
  if (target === undefined) return
  const real = realPath(target) ?? target
  const belongs = own.some((git) => ['worktrees', 'modules'].some((name) => real.startsWith(join(git, name) + sep)))
  if (!belongs)
    addFile(found, path, real, `${printable(path)}, by which git takes ${printable(real)} for the repository`)
}

function addFile(found: Traces, path: string, stamp: string, text: string): void {
  found.set(`file ${path}`, { stamp, text })
  const info = stat(path)
  if (info) addHardLink(found, path, info)
}

function addLink(found: Traces, path: string, place: string): void {
  const target = linkTarget(path)
  found.set(`link ${path}`, {
    stamp: target,
    text: `the symbolic link ${printable(path)} to ${printable(target)} ${place}`,
  })
}

/** Only for files that git believes: a writer of the other name changes them without coming near. */
function addHardLink(found: Traces, path: string, info: BigIntStats): void {
  if (!info.isFile() || info.nlink < 2n) return
  found.set(`hard link ${path}`, { stamp: '', text: `a hard link: ${printable(path)} has other names, too` })
}

const LARGEST = 1024 * 1024

/** Of regular files that are not too large. Never waits: a command may have put a pipe there, or a link to one. */
function textOf(path: string): string | undefined {
  let descriptor: number
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch {
    return undefined // missing, or closed to us
  }
  try {
    const info = fstatSync(descriptor)
    if (!info.isFile() || info.size > LARGEST) return undefined
    const bytes = Buffer.alloc(info.size)
    return bytes.subarray(0, readSync(descriptor, bytes)).toString()
  } catch {
    return undefined // not readable after all
  } finally {
    closeSync(descriptor)
  }
}

function stampOf(info: BigIntStats): string {
  return `${info.ino} ${info.size} ${info.mtimeNs} ${info.ctimeNs}`
}

function stat(path: string): BigIntStats | undefined {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false })
  } catch {
    return undefined // below something that is no folder, or closed to us
  }
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    return undefined // leads nowhere yet
  }
}

function linkTarget(path: string): string {
  try {
    return resolve(dirname(path), readlinkSync(path))
  } catch {
    return '' // gone meanwhile
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return [] // missing, no folder, or closed to us
  }
}

function foldersIn(folder: string): string[] {
  return namesIn(folder)
    .map((name) => join(folder, name))
    .filter((path) => stat(path)?.isDirectory())
}
