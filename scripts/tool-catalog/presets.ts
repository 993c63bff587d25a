// Which presets mount a package, and on which platforms: as the loader composes them.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

export interface Exposure {
  readonly preset: string
  readonly platforms: readonly string[]
}

interface Row {
  readonly name?: string
  readonly rows?: readonly Row[]
  readonly disabled: boolean
}

const PLATFORMS = ['linux', 'darwin', 'win32']

/** By package name. `packages` is where the loader and the presets are, as built. */
export async function presetExposure(packages: string): Promise<ReadonlyMap<string, readonly Exposure[]>> {
  const built = async <T>(path: string): Promise<T> =>
    (await import(pathToFileURL(join(packages, path, 'dist/index.js')).href)) as T
  const loader = await built<{ compose(options: object): { rows: readonly Row[] } }>('boot/loader')
  const presets = await built<{ presetNames(): string[]; presetFiles(name: string): string[] }>('preset/presets')
  const found = new Map<string, Map<string, string[]>>()
  for (const preset of presets.presetNames()) {
    for (const platform of PLATFORMS) {
      const { rows } = loader.compose({
        presets: presets.presetFiles(preset),
        platform,
        env: {},
        cwd: '/',
        home: '/home',
      })
      for (const name of new Set(mounted(rows))) {
        const known = found.get(name) ?? new Map<string, string[]>()
        known.set(preset, [...(known.get(preset) ?? []), platform])
        found.set(name, known)
      }
    }
  }
  return new Map(
    [...found].map(([name, known]) => [name, [...known].map(([preset, platforms]) => ({ preset, platforms }))]),
  )
}

function mounted(rows: readonly Row[]): string[] {
  return rows
    .filter(({ disabled }) => !disabled)
    .flatMap(({ name, rows: inner }) => [...(name === undefined ? [] : [name]), ...mounted(inner ?? [])])
}
