// The JavaScript of each package: one file an entry, since every module of its own costs the start of the host most of a millisecond.
// Types are the compiler's; what other packages provide stays an import, so that there is one copy of each.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

const packages = fileURLToPath(new URL('../packages', import.meta.url))
const self = readFileSync(fileURLToPath(import.meta.url))

/** Files that are started by their path and no entry of their package, below `src` and without extension. */
const STARTED_BY_PATH = {
  '@deepseek-ai/dsh-loader': ['hooks'],
  '@deepseek-ai/dsh-code-runtime-quickjs': ['worker/main'],
}

/** Bundles what has changed since it was bundled. */
export async function bundle() {
  const stale = readdirSync(packages)
    .flatMap((group) => readdirSync(join(packages, group)).map((name) => join(packages, group, name)))
    .filter((folder) => existsSync(join(folder, 'src/index.ts')))
    .map((folder) => ({ folder, stamp: join(folder, 'dist/.bundle'), key: keyOf(folder) }))
    .filter(({ stamp, key }) => !existsSync(stamp) || readFileSync(stamp, 'utf8') !== key)
  if (stale.length === 0) return
  const { rolldown } = await import('rolldown')
  for (const { folder, stamp, key } of stale) {
    await bundlePackage(rolldown, folder)
    writeFileSync(stamp, key)
  }
}

async function bundlePackage(rolldown, folder) {
  const dist = join(folder, 'dist')
  const build = await rolldown({
    cwd: folder,
    input: entriesOf(folder),
    platform: 'node',
    tsconfig: false,
    external: (id) => !id.startsWith('.') && !id.startsWith('/') && !/^[A-Za-z]:[\\/]/.test(id),
    treeshake: { moduleSideEffects: true },
    transform: { target: 'node20.19', typescript: { onlyRemoveTypeImports: true } },
    logLevel: 'warn',
  })
  mkdirSync(dist, { recursive: true })
  const options = { format: 'esm', entryFileNames: '[name].js', chunkFileNames: 'chunk-[hash].js', sourcemap: true }
  const { output } = await build.write({ dir: dist, ...options })
  await build.close()
  const written = new Set(output.map(({ fileName }) => fileName.split('/').join(sep)))
  for (const file of readdirSync(dist, { recursive: true })) {
    if (/\.js(\.map)?$/.test(file) && !file.startsWith(`page${sep}`) && !written.has(file)) rmSync(join(dist, file))
  }
}

/** By name below `dist`: what the manifest exports or runs, and what is started by its path. */
function entriesOf(folder) {
  const { name, exports, bin = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const files = [...Object.values(exports ?? {}).map((target) => target.default), ...Object.values(bin)]
  const names = files
    .filter((file) => file?.startsWith('./dist/'))
    .map((file) => file.slice('./dist/'.length, -'.js'.length))
  const all = new Set([...names, ...(STARTED_BY_PATH[name] ?? [])])
  return Object.fromEntries([...all].map((entry) => [entry, join(folder, 'src', `${entry}.ts`)]))
}

/** Changes with the sources, the manifest and this script; times and sizes stand for the sources' contents. */
function keyOf(folder) {
  const hash = createHash('sha256')
    .update(self)
    .update(readFileSync(join(folder, 'package.json')))
  const src = join(folder, 'src')
  for (const file of readdirSync(src, { recursive: true, encoding: 'utf8' }).sort((a, b) => (a < b ? -1 : 1))) {
    const { mtimeMs, size } = statSync(join(src, file))
    hash.update(`${file} ${mtimeMs} ${size}\n`)
  }
  return hash.digest('hex')
}
