// A project that installs our packages from tarballs and from nowhere else. Says what its installation came to.
import { readFileSync, readdirSync, lstatSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Tarball } from './pack.ts'

export type PackageManager = 'npm' | 'pnpm'

/** Every internal name stands for its tarball; a registry that is asked for one all the same is `registry`, if given. */
export function writeConsumer(
  folder: string,
  manager: PackageManager,
  wanted: readonly string[],
  tarballs: readonly Tarball[],
  registry?: string,
): void {
  const files = Object.fromEntries(tarballs.map(({ manifest, path }) => [manifest.name, `file:${path}`]))
  const dependencies = Object.fromEntries(wanted.map((name) => [name, files[name]]))
  const overrides = manager === 'npm' ? { overrides: files } : { pnpm: { overrides: files } }
  mkdirSync(folder, { recursive: true })
  const manifest = { name: 'consumer', version: '1.0.0', private: true, type: 'module', dependencies, ...overrides }
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  if (registry !== undefined) writeFileSync(join(folder, '.npmrc'), `@deepseek-ai:registry=${registry}\n`)
}

/** Internal packages that did not come from a tarball, as the lockfile has them. */
export function fromElsewhere(folder: string, manager: PackageManager): string[] {
  if (manager === 'npm') {
    const { packages } = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { resolved?: string }>
    }
    return Object.entries(packages)
      .filter(([path]) => /node_modules\/@deepseek-ai\/[^/]+$/.test(path))
      .filter(([, { resolved = '' }]) => !resolved.startsWith('file:'))
      .map(([path, { resolved = 'nowhere' }]) => `${path} from ${resolved}`)
  }
  const lock = readFileSync(join(folder, 'pnpm-lock.yaml'), 'utf8')
  const keys = [...lock.matchAll(/^ {2}'?(@deepseek-ai\/[^@\s]+@[^'\s(]+)/gm)].map((match) => match[1] ?? '')
  return [...new Set(keys)].filter((key) => !key.includes('@file:'))
}

export interface InstallationSize {
  /** Folders of packages below `node_modules`. */
  readonly packages: number
  /** What the files hold; file systems round up. */
  readonly bytes: number
}

/** Links are not followed, so that each package of pnpm's store is counted once. */
export function installationSize(folder: string): InstallationSize {
  let packages = 0
  let bytes = 0
  const visit = (path: string, parent: string): void => {
    for (const name of readdirSync(path)) {
      const child = join(path, name)
      const stat = lstatSync(child)
      if (stat.isFile()) bytes += stat.size
      if (!stat.isDirectory()) continue
      if (isPackage(parent, name)) packages++
      visit(child, name.startsWith('@') && parent === 'node_modules' ? 'node_modules' : name)
    }
  }
  visit(join(folder, 'node_modules'), 'node_modules')
  return { packages, bytes }
}

function isPackage(parent: string, name: string): boolean {
  return parent === 'node_modules' && !name.startsWith('.') && !name.startsWith('@')
}
