// What both README commands do before their own work: install from the lockfile and build what changed. Uses Node alone.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const bin = join(root, 'node_modules/.bin')
const installStamp = join(root, 'node_modules/.dsh-install')
const isWindows = process.platform === 'win32'

/**
 * Runs a program with the workspace's own tools first on PATH and resolves with its exit code. What it prints goes to standard
 * error; with `quiet` only when it fails.
 */
export function run(command, args, { quiet = false, env = {}, ...options } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: root,
      stdio: ['ignore', quiet ? 'pipe' : 2, quiet ? 'pipe' : 2],
      shell: isWindows,
      ...options,
      env: { ...process.env, TURBO_TELEMETRY_DISABLED: '1', PATH: `${bin}${delimiter}${process.env.PATH}`, ...env },
    })
    const printed = []
    child.stdout?.on('data', (chunk) => printed.push(chunk))
    child.stderr?.on('data', (chunk) => printed.push(chunk))
    child.on('error', reject)
    child.on('close', (code, signal) => {
      if (code !== 0) for (const chunk of printed) process.stderr.write(chunk)
      resolve(code ?? (signal === null ? 1 : 128))
    })
  })
}

async function must(what, command, args, options) {
  const code = await run(command, args, options)
  if (code === 0) return
  console.error(`dsh: ${what} failed (exit ${code}): ${command} ${args.join(' ')}`)
  process.exit(1)
}

function manifests() {
  const packages = join(root, 'packages')
  const dirs = readdirSync(packages).flatMap((group) =>
    readdirSync(join(packages, group)).map((name) => join(packages, group, name, 'package.json')),
  )
  return ['package.json', 'pnpm-lock.yaml', 'pnpm-workspace.yaml'].map((file) => join(root, file)).concat(dirs.sort())
}

function installKey() {
  const hash = createHash('sha256')
  for (const file of manifests()) if (existsSync(file)) hash.update(file.slice(root.length)).update(readFileSync(file))
  return hash.digest('hex')
}

async function install() {
  const key = installKey()
  if (existsSync(installStamp) && readFileSync(installStamp, 'utf8') === key) return
  const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  console.error('dsh: installing packages (the first time takes about half a minute) …')
  // From another folder, so that npx brings a pnpm of its own: an install may remove the one in node_modules while it runs.
  const install = ['--yes', packageManager, '--dir', root, 'install', '--frozen-lockfile', '--reporter=append-only']
  await must('installing', 'npx', install, { cwd: tmpdir(), env: { CI: 'true' } })
  mkdirSync(dirname(installStamp), { recursive: true })
  writeFileSync(installStamp, key)
}

export async function build() {
  await must('preparing types', process.execPath, [join(root, 'packages/core/cordis/build/flatten-types.mjs')])
  await must('compiling', 'tsc', ['-b'])
  await (await import('./bundle.mjs')).bundle()
  await must('building the page', 'turbo', ['run', 'build', '--output-logs=errors-only', '--log-order=grouped'], {
    quiet: true,
  })
}

/** True once an install has finished here; a changed manifest alone does not undo that. */
export function isInstalled() {
  return existsSync(installStamp)
}

/** Installs and builds what is out of date; quick when nothing is. */
export async function bootstrap() {
  await install()
  console.error('dsh: building what changed …')
  await build()
}
