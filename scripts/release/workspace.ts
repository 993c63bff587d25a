// The packages that are published, as their manifests say, in the order in which each finds what it depends on. Builds and packs nothing.
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

export type Ranges = Readonly<Record<string, string>>

export interface Manifest {
  readonly name: string
  readonly version: string
  readonly private?: boolean
  readonly description?: string
  readonly license?: string
  readonly repository?: { readonly url: string; readonly directory?: string }
  readonly engines?: Readonly<Record<string, string>>
  readonly files?: readonly string[]
  readonly bin?: Readonly<Record<string, string>>
  readonly exports?: Readonly<Record<string, unknown>>
  readonly scripts?: Readonly<Record<string, string>>
  readonly dependencies?: Ranges
  readonly optionalDependencies?: Ranges
  readonly peerDependencies?: Ranges
}

export interface WorkspacePackage {
  /** Absolute. */
  readonly folder: string
  readonly manifest: Manifest
}

/** What has to be there before an installed package works. */
export function neededBy(manifest: Manifest): Ranges {
  return { ...manifest.peerDependencies, ...manifest.optionalDependencies, ...manifest.dependencies }
}

/** All but private packages; each comes after those that it needs. */
export function publishedPackages(root: string): WorkspacePackage[] {
  const groups = join(root, 'packages')
  const found = readdirSync(groups)
    .sort()
    .flatMap((group) => readdirSync(join(groups, group)).map((name) => join(groups, group, name)))
    .filter((folder) => existsSync(join(folder, 'package.json')))
    .map((folder) => ({ folder, manifest: readManifest(join(folder, 'package.json')) }))
    .filter(({ manifest }) => manifest.private !== true)
  return inOrder(found)
}

function inOrder(packages: readonly WorkspacePackage[]): WorkspacePackage[] {
  const byName = new Map(packages.map((each) => [each.manifest.name, each]))
  const ordered = new Set<WorkspacePackage>()
  const visit = (each: WorkspacePackage, path: readonly string[]): void => {
    if (ordered.has(each)) return
    const { name } = each.manifest
    if (path.includes(name))
      throw new Error(`packages depend on each other in a circle: ${[...path, name].join(' → ')}`)
    for (const needed of Object.keys(neededBy(each.manifest)).sort()) {
      const other = byName.get(needed)
      if (other !== undefined) visit(other, [...path, name])
    }
    ordered.add(each)
  }
  for (const each of packages) visit(each, [])
  return [...ordered]
}

function readManifest(file: string): Manifest {
  return JSON.parse(readFileSync(file, 'utf8')) as Manifest
}
