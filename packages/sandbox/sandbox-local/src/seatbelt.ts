// The profile of macOS's sandbox-exec for a policy, as text. Running it is done elsewhere.
import { dirname } from 'node:path'
import {
  isWithin,
  outermost,
  protectedPaths,
  writableRootsOf,
  type RepositoryScans,
  type SandboxPolicy,
} from '@deepseek-ai/dsh-sandbox'

export const SANDBOX_EXEC = '/usr/bin/sandbox-exec'

/** The last rule that matches decides, hence the order: everything, then what is writable, then what is not after all. */
export function seatbeltProfile(policy: SandboxPolicy, scans: RepositoryScans): string {
  const rules = ['(version 1)', '(allow default)']
  if (policy.network !== 'open') rules.push('(deny network*)')
  if (policy.mode === 'danger-full-access') return `${rules.join('\n')}\n`
  const roots = outermost(writableRootsOf(policy))
  rules.push(
    '(deny file-write*)',
    `(allow file-write*${[...roots, policy.tempDir].map(subpath).join('')})`,
    // Terminals and the bit bucket; /dev is no folder of ordinary files.
    '(allow file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (regex #"^/dev/ttys[0-9]+$") (literal "/dev/ptmx"))',
    ...roots.flatMap((root) => shieldRules(root, scans)),
    '(deny signal (target others))',
    '(allow signal (target same-sandbox))',
    ...policy.deniedReads.map((path) => `(deny file-read* file-write*${subpath(path)})`),
    // Programs look a folder's name up on their way; its content stays closed.
    ...policy.deniedReads.map((path) => `(allow file-read-metadata (literal ${quoted(path)}))`),
  )
  if (policy.network !== 'open' && policy.unixSockets) rules.push('(allow network* (local unix) (remote unix))')
  return `${rules.join('\n')}\n`
}

function shieldRules(root: string, scans: RepositoryScans): string[] {
  const shields = protectedPaths(root, scans.of(root))
  const above = new Set<string>()
  for (const { path } of shields) {
    for (let at = dirname(path); at !== root && isWithin(at, root); at = dirname(at)) above.add(at)
  }
  const name = escapedForRegex(root)
  return [
    ...shields.map(({ path }) => `(deny file-write*${subpath(path)})`),
    // A folder on the way must not be moved aside and built anew. Removing its name is all that is refused.
    ...[...above].sort().map((path) => `(deny file-write-unlink (literal ${quoted(path)}))`),
    // Holds for a repository that the command itself makes, too: git then leaves its sample hooks out and says so.
    `(deny file-write* (regex #"^${name}/(.*/)?\\.git/hooks(/|$)"))`,
  ]
}

function subpath(path: string): string {
  return ` (subpath ${quoted(path)})`
}

function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`
}

function escapedForRegex(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|"]/g, '\\$&')
}
