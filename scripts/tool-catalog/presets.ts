// Which presets mount a package, and on which platforms: as the loader composes them.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
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

/** A package that takes part in the calls of tools that are not its own, and where. */
export interface PolicyPart {
  readonly name: string
  readonly dir: string
  readonly places: readonly string[]
  readonly presets: readonly Exposure[]
}

const PLACES: readonly (readonly [RegExp, string])[] = [
  [/\bon\(\s*['"]tools\/pre-execute['"]/, 'tools/pre-execute'],
  [/\bprovideApproval\(/, 'ctx.tools.provideApproval()'],
  [/\btools\.guard\(/, 'ctx.tools.guard()'],
  [/\bon\(\s*['"]tools\/execute['"]/, 'tools/execute'],
  [/\bon\(\s*['"]tools\/post-execute['"]/, 'tools/post-execute'],
  // File tools put what they are about to do before these, with the facts of the file.
  [/\bon\(\s*['"]fs\/intent['"]/, 'fs/intent'],
]

/** Those of the presets' packages whose code registers something in the pipeline. The registry itself is the pipeline. */
export function policyParts(packages: string, exposure: ReadonlyMap<string, readonly Exposure[]>): PolicyPart[] {
  return readdirSync(packages)
    .flatMap((group) => readdirSync(join(packages, group)).map((name) => `${group}/${name}`))
    .flatMap((path) => {
      const manifest = join(packages, path, 'package.json')
      if (path === 'core/tools' || !existsSync(manifest)) return []
      const { name } = JSON.parse(readFileSync(manifest, 'utf8')) as { name: string }
      const presets = exposure.get(name)
      const code = presets === undefined ? '' : builtCode(join(packages, path, 'dist'))
      const places = PLACES.flatMap(([pattern, place]) => (pattern.test(code) ? [place] : []))
      return presets === undefined || places.length === 0 ? [] : [{ name, dir: `packages/${path}`, places, presets }]
    })
    .sort((a, b) => (a.dir < b.dir ? -1 : 1))
}

function builtCode(dist: string): string {
  return readdirSync(dist, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.js') && !file.includes('page'))
    .map((file) => readFileSync(join(dist, file), 'utf8'))
    .join('\n')
}

function mounted(rows: readonly Row[]): string[] {
  return rows
    .filter(({ disabled }) => !disabled)
    .flatMap(({ name, rows: inner }) => [...(name === undefined ? [] : [name]), ...mounted(inner ?? [])])
}
