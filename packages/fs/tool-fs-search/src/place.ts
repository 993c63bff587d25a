// Where a search looks: the folder or file that was asked for, its real path, what a policy denies in it, and how paths in it are shown.
import { constants, promises as fs, type Stats } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { errorMessage } from '@deepseek-ai/cordis'
import { SearchError } from './errors.ts'
import { comparePaths, shownPath, type PathKey } from './path-order.ts'

export interface Place {
  /** Real folder that ripgrep runs in; paths are relative to it. */
  readonly folder: string
  /** What ripgrep is given: `.`, or `./name` of a single file. */
  readonly target: string
  readonly isFile: boolean
  /** As told to a reader: relative to the session's folder where it lies within. */
  readonly shown: string
  /** Paths that must not be read, relative to `folder`, with `/`. */
  readonly denied: readonly string[]
  /** Of these, what is there. */
  readonly deniedThere: readonly string[]
  /** A path in it as a reader can use it. */
  show(key: PathKey): string
}

/** Throws `SEARCH_PATH_NOT_FOUND`, `SEARCH_PATH_UNREADABLE` and `SEARCH_DENIED`. */
export async function placeOf(
  path: string | undefined,
  cwd: string | undefined,
  deniedReads: readonly string[],
): Promise<Place> {
  const base = cwd ?? process.cwd()
  if (path?.includes('\0') === true)
    throw new SearchError('the path holds a NUL, which no path does', 'SEARCH_PATH_NOT_FOUND')
  const asked = resolve(base, expandHome(path ?? '.'))
  // At once where all is well; what is wrong otherwise is found out step by step.
  const { found, real, facts } = await open(asked).catch(async () => open(await existing(asked), deniedReads))
  refuseDenied(real, found, deniedReads)
  if (!facts.isDirectory() && !facts.isFile()) {
    throw new SearchError(`${found} is neither a folder nor a file that can be searched`, 'SEARCH_PATH_UNREADABLE')
  }
  const isFile = facts.isFile()
  const folder = isFile ? dirname(real) : real
  const denied = isFile ? [] : deniedBelow(folder, deniedReads)
  const shownFolder = shownBelow(isFile ? dirname(found) : found, base)
  return {
    folder,
    target: isFile ? `./${basename(real)}` : '.',
    isFile,
    shown: shownBelow(found, base) || '.',
    denied,
    deniedThere: await present(folder, denied),
    show: (key) => {
      // Below a link's own name, where the search was asked for through one.
      const name = isFile ? basename(found) : shownPath(key)
      return shownFolder === '' ? name : `${shownFolder.endsWith('/') ? shownFolder : `${shownFolder}/`}${name}`
    },
  }
}

function expandHome(path: string): string {
  return path === '~' || path.startsWith('~/') ? join(homedir(), path.slice(2)) : path
}

/** With `/`; empty for the folder itself. */
function shownBelow(path: string, base: string): string {
  const below = relative(base, path)
  const outside = below === '..' || below.startsWith(`..${sep}`) || isAbsolute(below)
  return (outside ? path : below).split(sep).join('/')
}

/** The path, or where nothing is there the only neighbour whose name differs in Unicode form or in the kind of its spaces. */
async function existing(path: string): Promise<string> {
  try {
    await fs.lstat(path)
    return path
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT' && errnoOf(error) !== 'ENOTDIR') throw unreadable(path, error)
  }
  const folder = dirname(path)
  const names = await fs.readdir(folder).catch(() => []) // no folder, no neighbours
  const wanted = folded(basename(path))
  const alike = names.filter((name) => folded(name) === wanted)
  if (alike.length === 1) return join(folder, alike[0] ?? '')
  throw new SearchError(
    `nothing is at ${path}; paths are relative to the session's folder, or absolute`,
    'SEARCH_PATH_NOT_FOUND',
  )
}

function folded(name: string): string {
  return name.normalize('NFC').replace(/[\u00a0\u2000-\u200a\u202f\u205f\u3000]/g, ' ')
}

async function open(
  found: string,
  deniedReads: readonly string[] = [],
): Promise<{ found: string; real: string; facts: Stats }> {
  const path = fs.realpath(found).then(
    (real) => {
      refuseDenied(real, found, deniedReads)
      return real
    },
    (error: unknown) => {
      if (errnoOf(error) !== 'ENOENT') throw unreadable(found, error)
      throw new SearchError(`${found} is a link to something that does not exist`, 'SEARCH_PATH_NOT_FOUND', {
        cause: error,
      })
    },
  )
  const readable = Promise.all([fs.stat(found), fs.access(found, constants.R_OK)]).catch((error: unknown) => {
    throw unreadable(found, error)
  })
  // The path first: why it leads nowhere, or must not be read, says more than that it cannot be read.
  readable.catch(() => {})
  const real = await path
  const [facts] = await readable
  return { found, real, facts }
}

function refuseDenied(real: string, found: string, deniedReads: readonly string[]): void {
  if (!deniedReads.some((denied) => isWithin(real, denied))) return
  throw new SearchError(
    `the policy of this session denies reading ${found} (denied-read); search elsewhere`,
    'SEARCH_DENIED',
  )
}

function unreadable(path: string, cause: unknown): SearchError {
  const why = errnoOf(cause) === 'ELOOP' ? 'links there lead in a circle' : errorMessage(cause)
  return new SearchError(`${path} cannot be searched: ${why}`, 'SEARCH_PATH_UNREADABLE', { cause })
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep)
}

function deniedBelow(folder: string, deniedReads: readonly string[]): string[] {
  const below = deniedReads.filter((denied) => isWithin(denied, folder))
  return below.map((denied) => relative(folder, denied).split(sep).join('/')).toSorted(comparePaths)
}

async function present(folder: string, paths: readonly string[]): Promise<string[]> {
  const there: string[] = []
  for (const path of paths) {
    const isThere = await fs.lstat(join(folder, path)).then(
      () => true,
      // What cannot be looked at may well be there.
      (error: unknown) => errnoOf(error) !== 'ENOENT' && errnoOf(error) !== 'ENOTDIR',
    )
    if (isThere) there.push(path)
  }
  return there
}

function errnoOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code
}
