// Answers whether a policy lets one path be read or written. Enforcement is the provider's; this is for file tools and for telling a denial.
import { protectedPaths, isProtectedName } from './protected-paths.ts'
import { isWithin, realPathOf, segmentsBelow } from './paths.ts'
import type { RepositoryScans } from './repositories.ts'
import type { SandboxAccess, SandboxPolicy, SandboxRule } from './types.ts'

export type SandboxVerdict = { readonly allowed: true } | { readonly allowed: false; readonly rule: SandboxRule }

const ALLOWED: SandboxVerdict = { allowed: true }

/** Judges the real path, or that of the nearest existing parent. `scans` says where repositories are. */
export function judgePath(
  path: string,
  access: SandboxAccess,
  policy: SandboxPolicy,
  scans: RepositoryScans,
): SandboxVerdict {
  if (policy.mode === 'danger-full-access') return ALLOWED
  const real = realPathOf(path)
  if (policy.deniedReads.some((denied) => isWithin(real, denied))) return refused('denied-read')
  if (access === 'read' || isWithin(real, policy.tempDir)) return ALLOWED
  if (policy.mode === 'read-only') return refused('read-only-mode')
  const roots = writableRootsOf(policy).filter((root) => isWithin(real, root))
  if (roots.length === 0) return refused('outside-writable-roots')
  return roots.some((root) => isProtected(real, root, scans)) ? refused('protected-path') : ALLOWED
}

/** Everything writable but the session's temp folder. */
export function writableRootsOf(policy: SandboxPolicy): string[] {
  return policy.mode === 'workspace-write' ? [policy.root, ...policy.writableRoots] : []
}

function isProtected(real: string, root: string, scans: RepositoryScans): boolean {
  if (isProtectedName(segmentsBelow(real, root) ?? [])) return true
  return protectedPaths(root, scans.of(root)).some(({ path }) => isWithin(real, path))
}

function refused(rule: SandboxRule): SandboxVerdict {
  return { allowed: false, rule }
}
