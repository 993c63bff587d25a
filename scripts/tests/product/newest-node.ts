// The newest Node that the npm registry gives, for this platform. Kept with what else of the checkout can be had again, since it is large.
import { execFile } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const cache = fileURLToPath(new URL('../../../node_modules/.cache/dsh-node', import.meta.url))

export type NewestNode =
  | { readonly version: string; readonly folder: string }
  | { readonly version: undefined; readonly reason: string }

/** Its folder has the program `node` and can go on the PATH. Never throws: without one there is a reason. */
export async function newestNode(): Promise<NewestNode> {
  const name = `node-${process.platform}-${process.arch}`
  try {
    const { stdout } = await run('npm', ['view', name, 'version'], { cwd: tmpdir(), timeout: 60_000 })
    const version = `v${stdout.trim()}`
    if (version === process.version) return missing(`${version} runs these tests`)
    const folder = join(cache, `${name}-${version}`)
    if (!existsSync(join(folder, 'node'))) await bring(`${name}@${stdout.trim()}`, folder)
    const answer = await run(join(folder, 'node'), ['--version'])
    return answer.stdout.trim() === version ? { version, folder } : missing(`${folder} holds ${answer.stdout.trim()}`)
  } catch (error) {
    return missing(`the registry gives no ${name} that runs here: ${(error as Error).message.split('\n')[0]}`)
  }
}

function missing(reason: string): NewestNode {
  return { version: undefined, reason }
}

/** Only the program; headers and documents are most of the package. */
async function bring(spec: string, folder: string): Promise<void> {
  mkdirSync(cache, { recursive: true })
  const temp = mkdtempSync(join(cache, 'bringing-'))
  try {
    await run('npm', ['pack', spec, '--pack-destination', temp], { cwd: tmpdir(), timeout: 300_000 })
    const [tarball = ''] = readdirSync(temp)
    await run('tar', ['-xzf', join(temp, tarball), '-C', temp, 'package/bin/node'])
    chmodSync(join(temp, 'package/bin/node'), 0o755)
    mkdirSync(folder, { recursive: true })
    renameSync(join(temp, 'package/bin/node'), join(folder, 'node'))
  } finally {
    rmSync(temp, { recursive: true, force: true })
  }
}
