// What stays unwritable inside a writable folder, because something that is not confined runs or believes it later.
import { lstatSync, statSync, readdirSync } from 'node:fs'
import { basename, dirname, join, sep } from 'node:path'
import { gitPath, globalGitConfigFiles, readGitConfig, type GitConfig } from './git-config.ts'
import { isWithin, realPathOf } from './paths.ts'
import type { Repository, RepositoryScan } from './repositories.ts'

export interface ProtectedPath {
  /** Real, inside the root. */
  readonly path: string
  readonly kind: 'file' | 'folder'
  /** False: nothing is there, and nothing may come to be. */
  readonly exists: boolean
}

/** Configuration of agents and editors: hooks, tasks and servers that start by themselves. */
const CONFIG_FOLDERS = ['.dsh', '.agents', '.claude', '.codex', '.cursor', '.gemini', '.vscode', '.idea']
/** Only where they exist: an empty one of these would disturb. */
const CONFIG_FILES = [
  '.mcp.json',
  '.gitconfig',
  '.bashrc',
  '.bash_profile',
  '.bash_login',
  '.profile',
  '.zshrc',
  '.zshenv',
  '.zprofile',
  '.zlogin',
]
const CONFIG_NAMES = new Set([...CONFIG_FOLDERS, ...CONFIG_FILES])
const WORKTREE_FILES = ['commondir', 'gitdir', 'config.worktree']

/** Every protected path inside a writable root. Nothing is listed twice or within another. */
export function protectedPaths(root: string, scan: RepositoryScan): ProtectedPath[] {
  const found = new Map<string, ProtectedPath>()
  const add = (path: string, absentAs?: 'file' | 'folder'): void => {
    const entry = describe(path, absentAs)
    if (entry && entry.path !== root && isWithin(entry.path, root)) found.set(entry.path, entry)
  }
  // Nobody looks for configuration inside a repository's own folders, which a linked worktree makes writable.
  if (!root.split(sep).some((name) => name.endsWith('.git'))) {
    for (const name of CONFIG_FOLDERS) add(join(root, name), 'folder')
    for (const name of CONFIG_FILES) add(join(root, name))
  }
  // A root may be the folder that a linked worktree has in its repository.
  for (const name of WORKTREE_FILES) if (exists(join(root, 'HEAD'))) add(join(root, name))
  const shared = scan.repositories.length === 0 ? undefined : globalGitConfigFiles()
  for (const repository of scan.repositories) {
    if (repository.workTree !== root) for (const name of CONFIG_NAMES) add(join(repository.workTree, name))
    addRepository(add, repository, shared ?? [])
  }
  const all = [...found.values()].sort((a, b) => (a.path < b.path ? -1 : 1))
  return all.filter(({ path }) => !all.some((other) => other.path !== path && isWithin(path, other.path)))
}

/**
 * By names alone: is the path one that is protected wherever it turns up in a root? Holds before any scan, also for a repository that
 * does not exist yet. `segments` lead from the root to the path.
 */
export function isProtectedName(segments: readonly string[]): boolean {
  if (segments[0] !== undefined && CONFIG_NAMES.has(segments[0])) return true
  const git = segments.indexOf('.git')
  if (git === -1) return false
  const [first, second, third] = segments.slice(git + 1)
  if (first === undefined) return true
  if (['hooks', 'config', 'config.worktree', 'modules', 'commondir'].includes(first)) return true
  if (first === 'info') return second === 'attributes'
  return first === 'worktrees' && third !== undefined && WORKTREE_FILES.includes(third)
}

type Add = (path: string, absentAs?: 'file' | 'folder') => void

function addRepository(add: Add, repository: Repository, sharedConfig: readonly string[]): void {
  const { workTree, gitDir, commonDir } = repository
  const config = readGitConfig([...sharedConfig, join(commonDir, 'config'), join(gitDir, 'config.worktree')])
  if (repository.linked) add(join(workTree, '.git'))
  add(join(commonDir, 'hooks'), 'folder')
  add(join(commonDir, 'config'), 'file')
  // Read only when the config says so, and that cannot be changed.
  const perWorktree = config.get('extensions.worktreeconfig') === 'true'
  for (const folder of new Set([gitDir, commonDir]))
    add(join(folder, 'config.worktree'), perWorktree ? 'file' : undefined)
  add(join(commonDir, 'modules'))
  add(join(commonDir, 'info', 'attributes'))
  for (const folder of new Set([gitDir, ...linkedFolders(commonDir)])) {
    for (const name of WORKTREE_FILES) add(join(folder, name))
  }
  addHooksPath(add, repository, config)
}

function addHooksPath(add: Add, { workTree }: Repository, config: GitConfig): void {
  const named = config.get('core.hookspath')
  if (named === undefined || named === '') return
  const hooks = gitPath(named, workTree)
  add(hooks, 'folder')
  // Husky's layout: the hooks in `_` do nothing but run the scripts beside it.
  if (basename(hooks) === '_') add(dirname(hooks))
}

function linkedFolders(commonDir: string): string[] {
  try {
    return readdirSync(join(commonDir, 'worktrees')).map((name) => join(commonDir, 'worktrees', name))
  } catch {
    return [] // no linked worktrees
  }
}

function describe(path: string, absentAs: 'file' | 'folder' | undefined): ProtectedPath | undefined {
  const real = realPathOf(path)
  const stat = statSync(real, { throwIfNoEntry: false })
  if (stat) return { path: real, kind: stat.isDirectory() ? 'folder' : 'file', exists: true }
  // Without its parent there is nothing to hold a placeholder, and nothing that is run.
  if (absentAs === undefined || !exists(dirname(real))) return undefined
  return { path: real, kind: absentAs, exists: false }
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}
