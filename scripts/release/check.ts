// What keeps a tarball from being published. Each problem is a sentence that needs no context but the package's name.
import { checkPackage } from '@arethetypeswrong/core'
import { existsSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join, posix } from 'node:path'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { contentsOf, type Contents } from './contents.ts'
import { packagesNamed } from './imports.ts'
import type { Tarball } from './pack.ts'
import { neededBy, type Ranges } from './workspace.ts'

/** Folders that a package may ship, each only if its manifest lists it. */
const SHIPPED = ['dist', 'presets', 'templates', 'upstream']
/** ESM only is intended: what `require` and the resolution of old would find does not matter. */
const RESOLUTIONS: readonly (string | undefined)[] = ['node16-esm', 'bundler', 'node16']

export interface Release {
  /** Absolute. */
  readonly root: string
  /** What is published together: versions by name. */
  readonly versions: Ranges
}

export async function problemsOf(tarball: Tarball, release: Release): Promise<string[]> {
  const contents = contentsOf(tarball)
  return [
    ...manifestProblems(contents, release),
    ...fileProblems(contents, release.root),
    ...staleDeclarations(contents, tarball.folder),
    ...mapProblems(contents),
    ...importProblems(contents),
    ...(await publintProblems(contents)),
    ...(await typeProblems(contents)),
  ]
}

function manifestProblems({ manifest, files, read }: Contents, { versions }: Release): string[] {
  const { name, version, bin = {} } = manifest
  const missing = (['description', 'license', 'engines'] as const).filter((field) => manifest[field] === undefined)
  return [
    ...missing.map((field) => `its manifest has no "${field}"`),
    ...(versions[name] === version ? [] : [`it is packed as ${version}, but ${versions[name]} is to be published`]),
    ...Object.entries(neededBy(manifest)).flatMap(([needed, range]) => rangeProblems(needed, range, versions)),
    ...Object.values(bin)
      .map((file) => posix.normalize(file))
      .filter((file) => !files.includes(file) || !read(file).startsWith('#!/usr/bin/env node\n'))
      .map((file) => `its program ${file} is missing or does not name node in its first line`),
  ]
}

function rangeProblems(needed: string, range: string, versions: Ranges): string[] {
  if (/^(workspace|catalog|link|file|portal|git|https?):/.test(range)) {
    return [`it needs "${needed}": "${range}", which means nothing outside this checkout`]
  }
  const version = versions[needed]
  if (version === undefined || range === `^${version}`) return []
  return [`it needs "${needed}": "${range}", but ${version} is published with it`]
}

function fileProblems({ manifest, files, read }: Contents, root: string): string[] {
  const listed = SHIPPED.filter((folder) => manifest.files?.includes(folder))
  const folders = listed.map((folder) => `${folder}/`)
  const besides = ['package.json', 'README.md', 'LICENSE']
  const stray = files.filter((file) => !besides.includes(file) && !folders.some((folder) => file.startsWith(folder)))
  const stamps = files.filter((file) => /(^|\/)\.|\.tsbuildinfo$|\.d\.ts\.map$/.test(file))
  const ofThisMachine = files.filter((file) => read(file).includes(root))
  return [
    ...besides.filter((file) => !files.includes(file)).map((file) => `it has no ${file}`),
    ...(files.includes('LICENSE') && read('LICENSE') !== readFileSync(join(root, 'LICENSE'), 'utf8')
      ? ['its LICENSE is not that of the repository']
      : []),
    ...folders
      .filter((folder) => !files.some((file) => file.startsWith(folder)))
      .map((folder) => `nothing is in ${folder}, which it says it ships; is it built?`),
    ...stray.map((file) => `it ships ${file}, which nobody has a use for`),
    ...stamps.map((file) => `it ships ${file}, which only a build here has a use for`),
    ...ofThisMachine.map((file) => `its ${file} names a folder of this machine: ${root}`),
  ]
}

/** The compiler leaves what it made from a file that is gone. */
function staleDeclarations({ files }: Contents, folder: string): string[] {
  return files
    .filter((file) => file.startsWith('dist/') && file.endsWith('.d.ts'))
    .filter((file) => !existsSync(join(folder, file.replace(/^dist\//, 'src/').replace(/\.d\.ts$/, '.ts'))))
    .map((file) => `its ${file} is made from nothing any more; remove ${join(folder, 'dist')} and build`)
}

function mapProblems({ files, read }: Contents): string[] {
  const maps = files.filter((file) => file.endsWith('.js.map'))
  const dangling = files
    .filter((file) => file.endsWith('.js'))
    .map((file) => ({ file, map: /\/\/# sourceMappingURL=(?!data:)(\S+)\s*$/.exec(read(file))?.[1] }))
    .filter(({ file, map }) => map !== undefined && !files.includes(posix.join(posix.dirname(file), map)))
  return [
    ...dangling.map(({ file, map }) => `its ${file} names a source map that is not there: ${map}`),
    ...maps.flatMap((map) => mapSources(map, read(map), files).map((why) => `its ${map} ${why}`)),
  ]
}

function mapSources(map: string, text: string, files: readonly string[]): string[] {
  const {
    sources,
    sourcesContent = [],
    sourceRoot = '',
  } = JSON.parse(text) as {
    sources: string[]
    sourcesContent?: (string | null)[]
    sourceRoot?: string
  }
  return sources.flatMap((source, index) => {
    const path = posix.join(posix.dirname(map), sourceRoot, source)
    if (/^[a-z]+:|^\//i.test(sourceRoot + source) || path.startsWith('..')) return [`points outside: ${source}`]
    if (typeof sourcesContent[index] === 'string' || files.includes(path)) return []
    return [`neither holds nor finds ${source}`]
  })
}

function importProblems({ manifest, files, read }: Contents): string[] {
  const may = new Set([manifest.name, ...Object.keys(neededBy(manifest))])
  return files
    .filter((file) => /\.(js|d\.ts)$/.test(file) && !file.startsWith('dist/page/'))
    .flatMap((file) => [...packagesNamed(file, read(file))].map((name) => ({ file, name })))
    .filter(({ name }) => !may.has(name) && !isBuiltin(name))
    .map(({ file, name }) => `its ${file} imports ${name}, which it does not depend on`)
}

async function publintProblems({ data }: Contents): Promise<string[]> {
  const { messages, pkg } = await publint({ pack: { tarball: data.buffer }, strict: true })
  return messages.map((message) => `publint: ${formatMessage(message, pkg, { color: false }) ?? message.code}`)
}

async function typeProblems({ types }: Contents): Promise<string[]> {
  const result = await checkPackage(types)
  if (result.types === false) return ['are-the-types-wrong: it has no types']
  return result.problems
    .map((problem) => ({
      kind: problem.kind,
      resolution: 'resolutionKind' in problem ? problem.resolutionKind : undefined,
      option: 'resolutionOption' in problem ? problem.resolutionOption : undefined,
      entry: 'entrypoint' in problem ? problem.entrypoint : undefined,
    }))
    .filter(
      ({ resolution, option }) => (resolution ?? option) === undefined || RESOLUTIONS.includes(resolution ?? option),
    )
    .map(
      ({ kind, entry = '', resolution = '', option = '' }) =>
        `are-the-types-wrong: ${[kind, entry, resolution, option].filter((word) => word !== '').join(' ')}`,
    )
}
