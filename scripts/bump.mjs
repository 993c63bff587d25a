// `node scripts/bump.mjs`: turns what waits in `.changeset` into a version and change logs, by `changeset version`. Commits nothing.
//
// Every package has the facade as a peer, and all packages have one version. To changesets a minor of a peer is a major of whoever
// has it, which would make 0.3.0 into 1.0.0. Since the peer moves with them and never leaves the range, it is not shown the peers.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = resolve(process.argv[2] ?? fileURLToPath(new URL('..', import.meta.url)))
const groups = join(root, 'packages')
const manifests = readdirSync(groups)
  .flatMap((group) => readdirSync(join(groups, group)).map((name) => join(groups, group, name, 'package.json')))
  .filter((file) => existsSync(file))

// An interrupt ends the child; what was changed is put back before this ends.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => {})

rename('"peerDependencies":', '"heldPeerDependencies":')
try {
  const changeset = createRequire(import.meta.url).resolve('@changesets/cli/bin.js')
  const { status } = spawnSync(process.execPath, [changeset, 'version'], { cwd: root, stdio: 'inherit' })
  process.exitCode = status ?? 1
} finally {
  rename('"heldPeerDependencies":', '"peerDependencies":')
}

function rename(from, to) {
  for (const file of manifests) {
    const text = readFileSync(file, 'utf8')
    if (text.includes(from)) writeFileSync(file, text.replace(from, to))
  }
}
