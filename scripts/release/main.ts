// `npm run release`: packs, checks and lists what would be published, and with `--publish` publishes it.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { problemsOf } from './check.ts'
import { contentsOf } from './contents.ts'
import { packAll, type Tarball } from './pack.ts'
import { publishAll, PublishError } from './publish.ts'
import { stateOf } from './state.ts'

export const USAGE = `npm run release -- [options]    a dry run unless told otherwise

  --publish         publish what has no problem, each package after those it needs
  --tested          the tests passed for this commit, somewhere else
  --tag TAG         default: latest, for a prerelease next
  --registry URL    default: what npm is set to
  --otp CODE        one-time password of the account
  --no-provenance   publish from where no statement of provenance can be made
  --out FOLDER      keep the tarballs
`

const OPTIONS = {
  publish: { type: 'boolean', default: false },
  tested: { type: 'boolean', default: false },
  tag: { type: 'string' },
  registry: { type: 'string' },
  otp: { type: 'string' },
  provenance: { type: 'boolean', default: true },
  out: { type: 'string' },
} as const

type Say = (line: string) => void

/** The exit code: 0 when nothing stands in the way, and with `--publish` everything is there; 1 otherwise. */
export async function release(root: string, args: readonly string[], say: Say = console.log): Promise<number> {
  const { values } = parseArgs({ args: [...args], options: OPTIONS, allowNegative: true })
  const folder = values.out === undefined ? mkdtempSync(join(tmpdir(), 'dsh-release-')) : resolve(values.out)
  try {
    const state = stateOf(root, values)
    const tarballs = await packAll(root, folder, state.repository)
    list(tarballs, say)
    const problems = [...state.problems, ...(await checked(root, tarballs))]
    if (problems.length > 0) {
      for (const problem of problems) say(`✗ ${problem}`)
      say(`nothing was published: ${counted(problems.length, 'problem')}`)
      return 1
    }
    if (!values.publish) {
      say('nothing was published: this was a dry run, and nothing stands in the way of --publish')
      return 0
    }
    const { registry, tag, otp, provenance } = values
    await publishAll(tarballs, {
      provenance,
      say,
      ...(registry === undefined ? {} : { registry }),
      ...(tag === undefined ? {} : { tag }),
      ...(otp === undefined ? {} : { otp }),
    })
    say(`${tarballs.length} packages are published`)
    return 0
  } catch (error) {
    if (!(error instanceof PublishError)) throw error
    say(error.message)
    return 1
  } finally {
    if (values.out === undefined) rmSync(folder, { recursive: true, force: true })
  }
}

async function checked(root: string, tarballs: readonly Tarball[]): Promise<string[]> {
  const versions = Object.fromEntries(tarballs.map(({ manifest }) => [manifest.name, manifest.version]))
  const found: string[] = []
  for (const tarball of tarballs) {
    const problems = await problemsOf(tarball, { root, versions })
    found.push(...problems.map((problem) => `${tarball.manifest.name}: ${problem}`))
  }
  return found
}

function list(tarballs: readonly Tarball[], say: Say): void {
  const width = Math.max(...tarballs.map(({ manifest }) => manifest.name.length))
  const all = tarballs.map((tarball) => ({ tarball, files: contentsOf(tarball).files.length }))
  for (const { tarball, files } of all) {
    const { name, version } = tarball.manifest
    say(`${name.padEnd(width)} ${version.padEnd(8)} ${kilobytes(tarball.bytes)} ${counted(files, 'file').padStart(9)}`)
  }
  const bytes = tarballs.reduce((sum, tarball) => sum + tarball.bytes, 0)
  say(`${counted(tarballs.length, 'package')}, ${kilobytes(bytes).trim()} packed, in the order of publishing`)
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1000).toFixed(1).padStart(8)} kB`
}

function counted(count: number, thing: string): string {
  return `${count} ${thing}${count === 1 ? '' : 's'}`
}
