// Brings checked tarballs to a registry, one after the other, each after what it needs. Can be run again: what is there is left alone.
import { execFile } from 'node:child_process'
import { tmpdir } from 'node:os'
import type { Tarball } from './pack.ts'

export interface PublishOptions {
  /** Omitted: what npm is set to. */
  readonly registry?: string
  /** Name under which installs find it. Omitted: `next` for a prerelease, otherwise `latest`. */
  readonly tag?: string
  /** Statement of where it was built; only a build service can make one. */
  readonly provenance: boolean
  /** One-time password of the account. */
  readonly otp?: string
  readonly say: (line: string) => void
}

export class PublishError extends Error {
  override readonly name = 'PublishError'
}

/** Stops at the first failure, so that nothing is ever there before what it needs. */
export async function publishAll(tarballs: readonly Tarball[], options: PublishOptions): Promise<void> {
  for (const [index, tarball] of tarballs.entries()) {
    try {
      options.say(`${idOf(tarball)} ${await publishOne(tarball, options)}`)
    } catch (error) {
      const waiting = tarballs.length - index
      throw new PublishError(
        `${idOf(tarball)} was not published: ${(error as Error).message}\n` +
          `${index} packages are there, ${waiting} are not; the same command goes on from here`,
        { cause: error },
      )
    }
  }
}

async function publishOne(tarball: Tarball, options: PublishOptions): Promise<string> {
  if (await isThere(tarball, options)) return 'was there already'
  const { tag = tarball.manifest.version.includes('-') ? 'next' : 'latest', provenance, otp } = options
  const args = ['publish', tarball.path, '--access', 'public', '--tag', tag, '--ignore-scripts']
  args.push(provenance ? '--provenance' : '--no-provenance')
  if (otp !== undefined) args.push('--otp', otp)
  const { code, printed } = await npm(args, options)
  if (code === 0) return 'published'
  // A registry may take a package and lose the answer.
  if (await isThere(tarball, options)) return 'published, though the registry answered with an error'
  throw new Error(lastWords(printed))
}

/** False when the registry has no such version; refuses one with other contents. */
async function isThere(tarball: Tarball, options: PublishOptions): Promise<boolean> {
  const { code, out, printed } = await npm(['view', idOf(tarball), 'dist.integrity', '--json'], options)
  if (code !== 0) {
    if (/E404/.test(printed)) return false
    throw new Error(`the registry does not tell what it has: ${lastWords(printed)}`)
  }
  const integrity = out.trim() === '' ? undefined : (JSON.parse(out) as string)
  if (integrity === undefined) return false
  if (integrity === tarball.integrity) return true
  throw new Error(`the registry has this version with other contents (${integrity}); publish under a new version`)
}

function idOf({ manifest }: Tarball): string {
  return `${manifest.name}@${manifest.version}`
}

function npm(
  args: readonly string[],
  { registry }: PublishOptions,
): Promise<{ code: number; out: string; printed: string }> {
  const all =
    registry === undefined ? [...args] : [...args, '--registry', registry, `--@deepseek-ai:registry=${registry}`]
  return new Promise((done) => {
    // Note: in a folder without a manifest, since npm takes settings from one that it finds.
    const options = { cwd: tmpdir(), encoding: 'utf8', shell: process.platform === 'win32' } as const
    const child = execFile('npm', all, options, (error, out, err) => {
      const code = error === null ? 0 : (child.exitCode ?? 1)
      done({ code, out, printed: out + err + (child.exitCode === null ? String(error?.message) : '') })
    })
  })
}

/** What npm says of a failure, without where its log is. */
function lastWords(printed: string): string {
  const lines = printed.split('\n').filter((line) => /^npm (error|ERR!)/.test(line) && !/A complete log/.test(line))
  const words = lines.map((line) => line.replace(/^npm (error|ERR!) ?/, '')).filter((line) => line.trim() !== '')
  return words.slice(0, 6).join(' · ') || printed.trim()
}
