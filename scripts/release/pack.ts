// Packs every published package once, as the registry would get it: real ranges in place of `workspace:` and `catalog:`. Needs a build.
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { publishedPackages, type WorkspacePackage } from './workspace.ts'

const pnpm = fileURLToPath(new URL('../../node_modules/pnpm/bin/pnpm.cjs', import.meta.url))
const hooks = fileURLToPath(new URL('pnpmfile.cjs', import.meta.url))

export interface Tarball extends WorkspacePackage {
  /** Absolute. */
  readonly path: string
  readonly bytes: number
  /** As the registry states it. */
  readonly integrity: string
}

/** In the order of `publishedPackages`. The repository, an address for git, is written into each manifest; omitted: none is. */
export async function packAll(root: string, destination: string, repository?: string): Promise<Tarball[]> {
  mkdirSync(destination, { recursive: true })
  const packages = publishedPackages(root)
  const filters = packages.flatMap(({ manifest }) => ['--filter', manifest.name])
  const args = [pnpm, '--recursive', ...filters, `--config.pnpmfile=${hooks}`, 'pack', '--json']
  const { stdout } = await promisify(execFile)(process.execPath, [...args, '--pack-destination', destination], {
    cwd: root,
    env: { ...process.env, DSH_PACK_ROOT: root, DSH_PACK_REPOSITORY: repository ?? '' },
    maxBuffer: 64 * 2 ** 20,
  })
  const paths = new Map(packed(stdout).map(({ name, filename }) => [name, filename]))
  return packages.map((each) => {
    const path = paths.get(each.manifest.name)
    if (path === undefined) throw new Error(`packing left no tarball of ${each.manifest.name}`)
    return tarball(each, join(path))
  })
}

function tarball(of: WorkspacePackage, path: string): Tarball {
  const data = readFileSync(path)
  return { ...of, path, bytes: data.length, integrity: `sha512-${createHash('sha512').update(data).digest('base64')}` }
}

/** A list, or without brackets where there was one package. */
function packed(json: string): { name: string; filename: string }[] {
  const report = JSON.parse(json) as { name: string; filename: string } | { name: string; filename: string }[]
  return Array.isArray(report) ? report : [report]
}
