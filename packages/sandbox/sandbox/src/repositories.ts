// Finds the git repositories below a folder, so that what they run later can be protected. What is protected is decided elsewhere.
import { lstatSync, readFileSync, readdirSync, type Dirent } from 'node:fs'
import { join, resolve } from 'node:path'
import { realPathOf } from './paths.ts'

export interface Repository {
  /** The folder that holds `.git`; for a bare repository the repository itself. */
  readonly workTree: string
  /** Real path of HEAD's folder; may lie outside the folder that was searched. */
  readonly gitDir: string
  /** Real path of where hooks and config are; differs from `gitDir` in a linked worktree. */
  readonly commonDir: string
  /** `.git` is a file that names `gitDir`. */
  readonly linked: boolean
}

export interface RepositoryScan {
  readonly root: string
  readonly repositories: readonly Repository[]
  /** False when the tree was too big to be searched whole. */
  readonly complete: boolean
}

export const SCAN_DEPTH = 5
const MAX_FOLDERS = 20_000
const SKIPPED = new Set(['.git', 'node_modules'])
/** What a `.git` folder must hold one of, to be more than a name. */
const TRACES = ['HEAD', 'config', 'hooks', 'objects', 'commondir']

/** Folders down to `SCAN_DEPTH` levels below `root`; links are not followed. */
export function scanRepositories(root: string): RepositoryScan {
  const repositories: Repository[] = []
  let folders = [root]
  let seen = 0
  for (let depth = 0; depth <= SCAN_DEPTH && folders.length > 0; depth++) {
    const next: string[] = []
    for (const folder of folders) {
      if (++seen > MAX_FOLDERS) return { root, repositories, complete: false }
      const entries = entriesOf(folder)
      const found = repositoryIn(folder, entries)
      if (found) repositories.push(found)
      for (const entry of entries) {
        if (entry.isDirectory() && !SKIPPED.has(entry.name)) next.push(join(folder, entry.name))
      }
    }
    folders = next
  }
  return { root, repositories, complete: true }
}

/** Scans that are kept a while: a big tree takes tens of milliseconds. */
export class RepositoryScans {
  private readonly kept = new Map<string, { scan: RepositoryScan; at: number }>()
  private readonly maxAgeMs: number

  constructor(maxAgeMs = 2000) {
    this.maxAgeMs = maxAgeMs
  }

  of(root: string): RepositoryScan {
    const known = this.kept.get(root)
    if (known && performance.now() - known.at < this.maxAgeMs) return known.scan
    const scan = scanRepositories(root)
    // The oldest goes: a host may serve many workspaces in its life.
    if (this.kept.size >= 100) this.kept.delete(this.kept.keys().next().value as string)
    this.kept.delete(root)
    this.kept.set(root, { scan, at: performance.now() })
    return scan
  }

  /** Call when a command may have changed the tree. */
  expire(root: string): void {
    this.kept.delete(root)
  }
}

/** What a linked worktree needs to commit, outside of it: its own folder in the repository, and where objects and refs are. */
export function linkedWorktreeFolders(workTree: string): string[] {
  const found = repositoryIn(workTree, entriesOf(workTree))
  if (!found?.linked || found.gitDir === found.commonDir) return []
  // Only the repository itself can say that this worktree is its own; a `.git` file may name anything.
  if (realPathOf(textOf(join(found.gitDir, 'gitdir'))) !== join(workTree, '.git')) return []
  return [found.gitDir, ...['objects', 'refs', 'logs'].map((name) => join(found.commonDir, name)).filter(isFolder)]
}

function repositoryIn(folder: string, entries: readonly Dirent[]): Repository | undefined {
  const git = entries.find((entry) => entry.name === '.git')
  if (git) return repositoryAt(folder, join(folder, '.git'), git.isFile())
  const names = new Set(entries.map((entry) => entry.name))
  // A bare repository, or a git folder of another name.
  if (!names.has('HEAD') || !names.has('objects') || !names.has('refs')) return undefined
  return { workTree: folder, gitDir: folder, commonDir: commonDirOf(folder), linked: false }
}

function repositoryAt(workTree: string, git: string, linked: boolean): Repository | undefined {
  let gitDir = realPathOf(git)
  if (linked) {
    const named = /^gitdir:\s*(.+)$/m.exec(textOf(git))?.[1]
    if (named === undefined) return undefined
    gitDir = realPathOf(resolve(workTree, named.trim()))
  } else if (!TRACES.some((name) => lstatSync(join(gitDir, name), { throwIfNoEntry: false }) !== undefined)) {
    return undefined
  }
  return { workTree, gitDir, commonDir: commonDirOf(gitDir), linked }
}

function commonDirOf(gitDir: string): string {
  const named = textOf(join(gitDir, 'commondir'))
  return named === '' ? gitDir : realPathOf(resolve(gitDir, named))
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch {
    return '' // missing or closed to us
  }
}

function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return [] // gone or closed to us: commands of this user cannot enter it either
  }
}
