// Turns a policy into the mounts of bubblewrap. The order is the content: what comes later covers what came before.
import { lstatSync, realpathSync, statSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import {
  SandboxError,
  isWithin,
  outermost,
  protectedPaths,
  writableRootsOf,
  type ProtectedPath,
  type RepositoryScans,
  type SandboxPolicy,
} from '@deepseek-ai/dsh-sandbox'
import { canCreateIn, reachableStat, type Identity } from './reach.ts'

/** What a plan is made of beside the policy. */
export interface PlanWorld {
  readonly scans: RepositoryScans
  readonly who: Identity
  /** Folder of all sessions' temp folders: hidden but for the session's own. */
  readonly tempBase: string
  /** An empty file that stands in for files which may not come to be. */
  readonly emptyFile: string
  /** The runner has `--disable-userns`. */
  readonly canDisableUserNamespaces: boolean
  /** True for what a plan put there: it counts as absent. */
  isPlaceholder(path: string): boolean
}

export interface MountPlan {
  /** Options of bubblewrap but for the folder to start in and the descriptors. */
  readonly options: readonly string[]
  /** The command is not the runner's direct child but that one's, behind an init of its own. */
  readonly pidNamespace: boolean
  /** Empty things that appear on the host because something must be mounted there. */
  readonly placeholders: readonly string[]
  /** Is everything still there that the plan mounts, and nothing where it mounts a placeholder? */
  current(): boolean
  /** Things a person should know about this plan. */
  readonly warnings: readonly string[]
}

/** bubblewrap's time grows faster than the number of mounts: 150 take some 30 ms. */
export const MAX_MOUNTS = 150

/** Replaced as a whole, with the sockets and files of the host in them. */
const REPLACED = ['/tmp', '/run', '/dev', '/proc']
/** On NixOS programs are reached through these. */
const KEPT_IN_RUN = ['/run/current-system', '/run/opengl-driver', '/run/wrappers']
/** Owned by user 0, so that root writes them without any capability. */
const ROOT_WRITABLE_PROC = ['/proc/sys', '/proc/sysrq-trigger', '/proc/irq', '/proc/bus']

/** Throws `SANDBOX_POLICY_INVALID`. */
export function mountPlan(policy: SandboxPolicy, unshareNet: boolean, world: PlanWorld): MountPlan {
  return policy.mode === 'danger-full-access' ? fullAccess(unshareNet) : confined(policy, unshareNet, world)
}

/** True for paths that the command does not see as the host does. */
export function isReplaced(path: string): boolean {
  return REPLACED.some((folder) => isWithin(path, folder))
}

/** Nothing but the network is cut off. Signals, `/proc` and sockets of the host stay within reach, as the mode says. */
function fullAccess(unshareNet: boolean): MountPlan {
  const options = ['--unshare-user', '--die-with-parent', '--cap-drop', 'ALL', '--dev-bind', '/', '/']
  if (unshareNet) options.unshift('--unshare-net')
  return { options, pidNamespace: false, placeholders: [], current: () => true, warnings: [] }
}

function confined(policy: SandboxPolicy, unshareNet: boolean, world: PlanWorld): MountPlan {
  const roots = outermost(writableRootsOf(policy))
  const denied = deniedMounts(policy, roots, world)
  const shields = roots.flatMap((root) => shieldsOf(root, world))
  const { kept, warnings } = withinLimit(
    shields.filter(({ path }) => !denied.some((mask) => isWithin(path, mask.path))),
    roots,
    denied.length,
  )
  const pins = pinsOf(kept, roots)
  const options = [
    ...namespaces(policy, unshareNet, world),
    ...base(policy, world),
    // What is replaced lacks the root: a pin must sit on the root's own folders.
    ...[...new Set([policy.root, ...roots])].filter(isReplaced).flatMap((path) => ['--ro-bind', path, path]),
    ...pins.flatMap((path) => ['--ro-bind', path, path]),
    ...roots.flatMap((path) => ['--bind', path, path]),
    ...kept.flatMap((shield) => shieldOptions(shield, world)),
    // Last, since a read-only bind of a folder would show again what is hidden in it.
    ...denied.flatMap(maskOptions),
  ]
  const absent = kept.filter(({ exists }) => !exists).map(({ path }) => path)
  const present = [...kept.filter(({ exists }) => exists), ...denied].map(({ path, kind }) => ({ path, kind }))
  return {
    options,
    pidNamespace: true,
    placeholders: absent,
    warnings,
    current: () =>
      absent.every((path) => world.isPlaceholder(path) || kindOf(path) === undefined) &&
      present.every(({ path, kind }) => kindOf(path) === kind),
  }
}

function namespaces(policy: SandboxPolicy, unshareNet: boolean, world: PlanWorld): string[] {
  return [
    '--unshare-user',
    '--unshare-pid',
    '--unshare-ipc',
    '--unshare-uts',
    '--unshare-cgroup-try',
    ...(unshareNet ? ['--unshare-net'] : []),
    // Root keeps every capability without the second, even in a user namespace.
    '--die-with-parent',
    '--cap-drop',
    'ALL',
    ...(policy.nestedNamespaces || !world.canDisableUserNamespaces ? [] : ['--disable-userns']),
  ]
}

function base(policy: SandboxPolicy, world: PlanWorld): string[] {
  const { tempDir } = policy
  const proc = world.who.uid === 0 ? ROOT_WRITABLE_PROC.filter((path) => kindOf(path) !== undefined) : []
  return [
    '--ro-bind',
    '/',
    '/',
    '--dev',
    '/dev',
    '--proc',
    '/proc',
    ...proc.flatMap((path) => ['--ro-bind', path, path]),
    '--tmpfs',
    '/run',
    ...keptInRun(policy).flatMap((path) => ['--ro-bind', path, path]),
    '--bind',
    tempDir,
    '/tmp',
    // Searchable but not listable: the own folder below must be reached.
    ...(isWithin(tempDir, world.tempBase) ? ['--perms', '0111', '--tmpfs', world.tempBase] : []),
    '--bind',
    tempDir,
    tempDir,
    ...(isWithin(tempDir, world.tempBase) ? ['--remount-ro', world.tempBase] : []),
  ]
}

/** Name resolution is often a link into `/run`; without a network it is of no use. */
function keptInRun(policy: SandboxPolicy): string[] {
  const kept = KEPT_IN_RUN.filter((path) => kindOf(path) !== undefined)
  if (policy.network !== 'open') return kept
  try {
    const resolver = realpathSync('/etc/resolv.conf')
    return isWithin(resolver, '/run') ? [...kept, resolver] : kept
  } catch {
    return kept // no resolver configured
  }
}

interface Mask {
  readonly path: string
  readonly kind: 'file' | 'folder'
}

function deniedMounts(policy: SandboxPolicy, roots: readonly string[], world: PlanWorld): Mask[] {
  const around = policy.deniedReads.find((path) => [policy.root, ...roots].some((root) => isWithin(root, path)))
  if (around !== undefined) {
    throw new SandboxError(
      `the folder ${JSON.stringify(policy.root)}, or another writable one, lies within ${JSON.stringify(around)}, which may not be read; ` +
        'work elsewhere or take it from the denied reads',
      'SANDBOX_POLICY_INVALID',
    )
  }
  const visible = (path: string): boolean =>
    !isReplaced(path) || [policy.root, ...roots].some((root) => isWithin(path, root))
  return outermost(policy.deniedReads)
    .filter(visible)
    .flatMap((path) => {
      const stat = reachableStat(path, world.who)
      return stat === undefined ? [] : [{ path, kind: stat.isDirectory() ? ('folder' as const) : ('file' as const) }]
    })
}

function shieldsOf(root: string, world: PlanWorld): ProtectedPath[] {
  return protectedPaths(root, world.scans.of(root))
    .map((shield) => (world.isPlaceholder(shield.path) ? { ...shield, exists: false } : shield))
    .filter(({ path, exists }) =>
      exists ? reachableStat(path, world.who) !== undefined : canCreateIn(dirname(path), world.who),
    )
}

/** Many repositories: all but the root's own become read-only as a whole, one mount each. */
function withinLimit(
  shields: readonly ProtectedPath[],
  roots: readonly string[],
  others: number,
): { kept: readonly ProtectedPath[]; warnings: string[] } {
  const count = (kept: readonly ProtectedPath[]): number => kept.length + pinsOf(kept, roots).length + others
  if (count(shields) <= MAX_MOUNTS) return { kept: shields, warnings: [] }
  const own = new Set(roots.map((root) => join(root, '.git')))
  const whole = new Map<string, ProtectedPath>()
  for (const shield of shields) {
    const end = `${shield.path}${sep}`.indexOf(`${sep}.git${sep}`)
    const git = end === -1 ? shield.path : shield.path.slice(0, end + 5)
    if (end === -1 || own.has(git)) whole.set(shield.path, shield)
    else whole.set(git, { path: git, kind: kindOf(git) ?? 'folder', exists: true })
  }
  const kept = [...whole.values()]
  const mounts = count(kept)
  if (mounts <= MAX_MOUNTS) {
    return {
      kept,
      warnings: ['there are so many repositories below the workspace that their .git folders are read-only as a whole'],
    }
  }
  throw new SandboxError(
    `the workspace ${JSON.stringify(roots[0])} holds too much that must be protected: ${mounts} mounts, at most ${MAX_MOUNTS}; ` +
      'work in a folder with fewer repositories',
    'SANDBOX_POLICY_INVALID',
  )
}

/**
 * Folders on the way to what is protected. Mounted on themselves below the root's own mount, they cannot be renamed or removed, and yet
 * no border runs through the tree that files could not be moved across.
 */
function pinsOf(shields: readonly ProtectedPath[], roots: readonly string[]): string[] {
  const pins = new Set<string>()
  for (const { path } of shields) {
    const root = roots.find((each) => isWithin(path, each))
    for (let at = dirname(path); isBelow(at, root); at = dirname(at)) pins.add(at)
  }
  return [...pins].sort((a, b) => a.length - b.length)
}

function isBelow(path: string, root: string | undefined): boolean {
  return root !== undefined && path !== root && isWithin(path, root)
}

function shieldOptions({ path, kind, exists }: ProtectedPath, world: PlanWorld): string[] {
  if (exists) return ['--ro-bind', path, path]
  return kind === 'folder'
    ? ['--perms', '0555', '--tmpfs', path, '--remount-ro', path]
    : ['--ro-bind', world.emptyFile, path]
}

/** Closed rather than empty: an error says more than nothing. */
function maskOptions({ path, kind }: Mask): string[] {
  return kind === 'folder'
    ? ['--perms', '0000', '--tmpfs', path, '--remount-ro', path]
    : ['--ro-bind', '/dev/null', path]
}

function kindOf(path: string): 'file' | 'folder' | undefined {
  const link = lstatSync(path, { throwIfNoEntry: false })
  if (link === undefined) return undefined
  const stat = link.isSymbolicLink() ? statSync(path, { throwIfNoEntry: false }) : link
  return stat?.isDirectory() ? 'folder' : 'file'
}
