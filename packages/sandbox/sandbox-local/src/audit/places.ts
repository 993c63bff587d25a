// Finds where git would look for a repository below a folder, quickly enough to be done before and after every command.
import { lstatSync, readdirSync, type Dirent } from 'node:fs'
import { join } from 'node:path'

export interface GitPlace {
  /** A `.git` of any kind, or the folder of a bare repository. */
  readonly path: string
  readonly kind: 'folder' | 'file' | 'link'
}

interface Folder {
  readonly inode: number
  /** Time of change: moves with every name that comes or goes, and no command can set it back. NaN when it is not to be trusted. */
  readonly changed: number
  readonly places: readonly GitPlace[]
  readonly folders: readonly string[]
}

type Tree = Map<string, Folder>

const DEPTH = 12
const MOST_FOLDERS = 20_000
/** Roots whose trees are remembered: a folder that did not change is not listed again. */
const MOST_ROOTS = 16
/** The clock of a file system is coarse: a change within the same tick as the listing would leave the time as it was. */
const SETTLED_MS = 50

const trees = new Map<string, Tree>()

export interface GitPlaces {
  readonly places: readonly GitPlace[]
  /** Whether folders were left out, for being too deep or too many. `node_modules` is left out by rule. */
  readonly complete: boolean
}

export function findGitPlaces(root: string): GitPlaces {
  const known = trees.get(root) ?? new Map<string, Folder>()
  const seen: Tree = new Map()
  const places: GitPlace[] = []
  let folders = [root]
  let complete = true
  for (let depth = 0; depth <= DEPTH && folders.length > 0 && seen.size < MOST_FOLDERS; depth++) {
    const next: string[] = []
    const room = MOST_FOLDERS - seen.size
    if (folders.length > room) complete = false
    for (const path of folders.slice(0, room)) {
      const folder = readFolder(path, known.get(path))
      if (!folder) continue
      seen.set(path, folder)
      places.push(...folder.places)
      next.push(...folder.folders)
    }
    folders = next
  }
  remember(root, seen)
  return { places, complete: complete && folders.length === 0 }
}

function remember(root: string, tree: Tree): void {
  trees.delete(root)
  trees.set(root, tree)
  if (trees.size > MOST_ROOTS) trees.delete(trees.keys().next().value as string)
}

function readFolder(path: string, known: Folder | undefined): Folder | undefined {
  try {
    const stat = lstatSync(path)
    if (!stat.isDirectory()) return undefined
    const { ino: inode, ctimeMs } = stat
    if (known?.changed === ctimeMs && known.inode === inode) return known
    const settled = Date.now() - ctimeMs > SETTLED_MS
    return { inode, changed: settled ? ctimeMs : Number.NaN, ...listFolder(path) }
  } catch {
    // Gone, or closed to us: then commands of this user cannot enter it either.
    return undefined
  }
}

function listFolder(path: string): Pick<Folder, 'places' | 'folders'> {
  const entries = readdirSync(path, { withFileTypes: true })
  const places = entries
    .filter(({ name }) => isGit(name))
    .map((entry) => ({ path: join(path, entry.name), kind: kindOf(entry) }))
  const names = new Set(entries.map(({ name }) => name))
  if (['HEAD', 'objects', 'refs'].every((name) => names.has(name))) places.push({ path, kind: 'folder' })
  const folders = entries.filter((entry) => entry.isDirectory() && entry.name !== 'node_modules' && !isGit(entry.name))
  return { places, folders: folders.map(({ name }) => join(path, name)) }
}

/** Where the file system may ignore case, so does git. */
function isGit(name: string): boolean {
  return name === '.git' || (process.platform !== 'linux' && name.toLowerCase() === '.git')
}

function kindOf(entry: Dirent): GitPlace['kind'] {
  if (entry.isSymbolicLink()) return 'link'
  return entry.isDirectory() ? 'folder' : 'file'
}
