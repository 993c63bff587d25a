// What has to hold of the checkout before anything of it is published. Looks and changes nothing.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** Holds the commit for which `npm test` has passed last. */
export const TESTED = 'node_modules/.dsh-tested'

export interface CheckoutState {
  readonly problems: readonly string[]
  /** Where the source is kept, an address for git; undefined where nothing says. */
  readonly repository: string | undefined
}

/** `tested`: somebody vouches for the tests. `provenance`: the registry will compare where the source is kept. */
export function stateOf(root: string, { tested, provenance }: { tested: boolean; provenance: boolean }): CheckoutState {
  const repository = repositoryOf(root)
  const commit = git(root, 'rev-parse', 'HEAD')
  const changed = git(root, 'status', '--porcelain')
    .split('\n')
    .filter((line) => line !== '')
  const pending = changesets(root)
  const problems: string[] = []
  if (changed.length > 0) problems.push(`${changed.length} files are not as they are committed: ${some(changed)}`)
  if (pending.length > 0) {
    problems.push(`changes wait for a version (${some(pending)}): run "node scripts/bump.mjs", commit, and come again`)
  }
  if (!tested && passedFor(root) !== commit) {
    problems.push('"npm test" has not passed for this commit; run it, or say --tested where it passed elsewhere')
  }
  if (provenance && repository === undefined) {
    problems.push(
      'nothing says where the source is kept, which a statement of provenance needs: "repository" in package.json, ' +
        'a git remote "origin", or --no-provenance',
    )
  }
  return { problems, repository }
}

/** What the root's manifest says, else where a build service has it from, else the remote `origin`. */
export function repositoryOf(root: string): string | undefined {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    repository?: string | { url: string }
  }
  const said = typeof manifest.repository === 'object' ? manifest.repository.url : manifest.repository
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: path } = process.env
  const built = server !== undefined && path !== undefined ? `${server}/${path}` : undefined
  const address = said ?? built ?? git(root, 'remote', 'get-url', 'origin')
  return asHttps(address)
}

/** Undefined for what no reader of a package could reach: a folder, say. */
function asHttps(address: string): string | undefined {
  const bare = address.replace(/^git\+/, '').replace(/^(ssh:\/\/)?git@([^:/]+)[:/]/, 'https://$2/')
  return /^https:\/\/[^/@]+\/.+/.test(bare) ? bare : undefined
}

function changesets(root: string): string[] {
  const folder = join(root, '.changeset')
  if (!existsSync(folder)) return []
  return readdirSync(folder).filter((file) => file.endsWith('.md') && file !== 'README.md')
}

function passedFor(root: string): string | undefined {
  const file = join(root, TESTED)
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined
}

function some(names: readonly string[]): string {
  const shown = names.slice(0, 3).map((name) => name.trim())
  return names.length > shown.length ? `${shown.join(', ')} and ${names.length - shown.length} more` : shown.join(', ')
}

/** Empty where git has no answer. */
function git(root: string, ...args: string[]): string {
  const { status, stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8' })
  return status === 0 ? stdout.trim() : ''
}
