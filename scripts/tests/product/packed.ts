// The tarballs of all packages for tests: packed once for what is built, whichever test file asks first. Packs what is there; builds nothing.
import { createHash, randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { packAll, type Tarball } from '../../release/pack.ts'
import { publishedPackages } from '../../release/workspace.ts'

export const root = fileURLToPath(new URL('../../..', import.meta.url)).replace(/[/\\]$/, '')
const cache = join(root, 'node_modules/.cache/dsh-pack')
const scripts = fileURLToPath(new URL('../../release', import.meta.url))

/** In the order of publishing. */
export async function packed(): Promise<Tarball[]> {
  const folder = join(cache, key())
  const list = join(folder, 'tarballs.json')
  if (!existsSync(list)) await pack(folder)
  const tarballs = JSON.parse(readFileSync(list, 'utf8')) as Tarball[]
  return tarballs.map((tarball) => ({ ...tarball, path: join(folder, basename(tarball.path)) }))
}

export async function packedOnly(name: string): Promise<Tarball> {
  const found = (await packed()).find(({ manifest }) => manifest.name === name)
  if (found === undefined) throw new Error(`no package is called ${name}`)
  return found
}

async function pack(folder: string): Promise<void> {
  const mine = join(cache, `packing-${randomUUID()}`)
  mkdirSync(mine, { recursive: true })
  try {
    writeFileSync(join(mine, 'tarballs.json'), JSON.stringify(await packAll(root, mine)))
    for (const old of readdirSync(cache)) {
      if (!old.startsWith('packing-')) rmSync(join(cache, old), { recursive: true, force: true })
    }
    renameSync(mine, folder)
  } catch (error) {
    rmSync(mine, { recursive: true, force: true })
    // Another file of tests was as quick, and has packed the same.
    if (!existsSync(folder)) throw error
  }
}

/** Changes with any file that is packed, or that says how; times and sizes stand for contents. */
function key(): string {
  const hash = createHash('sha256')
  for (const { folder, manifest } of publishedPackages(root)) {
    const shipped = (manifest.files ?? []).filter((entry) => !entry.startsWith('!'))
    for (const entry of ['package.json', 'README.md', ...shipped]) hashFile(hash, join(folder, entry))
  }
  for (const file of [scripts, join(root, 'LICENSE')]) hashFile(hash, file)
  return hash.digest('hex').slice(0, 32)
}

function hashFile(hash: ReturnType<typeof createHash>, path: string): void {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat?.isDirectory() === true) {
    for (const name of readdirSync(path).sort()) hashFile(hash, join(path, name))
  } else {
    hash.update(`${path} ${stat?.mtimeMs} ${stat?.size}\n`)
  }
}
