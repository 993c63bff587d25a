// A release from a checkout with three packages to a registry on loopback: what stands in the way, and what a failure in the middle leaves.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { release } from '../../release/main.ts'
import { repositoryOf, TESTED } from '../../release/state.ts'
import { root } from './packed.ts'
import { startRegistry, type LoopbackRegistry } from './registry.ts'

const temp = realpathSync(mkdtempSync(join(tmpdir(), 'dsh-release-test-')))
const registry: LoopbackRegistry = await startRegistry()
const { host } = new URL(registry.url)
writeFileSync(join(temp, 'npmrc'), `//${host}/:_authToken=nobody\nupdate-notifier=false\nfetch-retries=0\n`)
process.env['NPM_CONFIG_USERCONFIG'] = join(temp, 'npmrc')
process.env['NPM_CONFIG_CACHE'] = join(temp, 'cache')
delete process.env['GITHUB_REPOSITORY']

let place = ''
let count = 0

afterAll(async () => {
  await registry.close()
  rmSync(temp, { recursive: true, force: true })
})

function write(path: string, text: string): void {
  mkdirSync(dirname(join(place, path)), { recursive: true })
  writeFileSync(join(place, path), text)
}

function git(...args: string[]): string {
  const who = ['-c', 'user.name=A', '-c', 'user.email=a@example.com']
  return execFileSync('git', [...who, ...args], { cwd: place, encoding: 'utf8' }).trim()
}

function writePackage(name: string, version: string, more: object = {}): void {
  const manifest = {
    name: `@place/${name}`,
    version,
    description: 'Nothing much.',
    license: 'MIT',
    type: 'module',
    files: ['dist'],
    exports: { types: './dist/index.d.ts', default: './dist/index.js' },
    engines: { node: '>=20' },
    ...more,
  }
  const folder = `packages/group/${name}`
  write(`${folder}/package.json`, JSON.stringify(manifest))
  write(`${folder}/README.md`, `# ${name}\n`)
  write(`${folder}/src/index.ts`, 'export const one = 1\n')
  write(`${folder}/dist/index.js`, 'export const one = 1\n')
  write(`${folder}/dist/index.d.ts`, 'export declare const one = 1\n')
}

function writeAll(version: string): void {
  writePackage('app', version, { dependencies: { '@place/lib': 'workspace:^' } })
  writePackage('base', version)
  writePackage('lib', version, { peerDependencies: { '@place/base': 'workspace:^' } })
}

/** As `pnpm install` would. */
function link(from: string, to: string): void {
  const folder = join(place, 'packages/group', from, 'node_modules/@place')
  mkdirSync(folder, { recursive: true })
  symlinkSync(join(place, 'packages/group', to), join(folder, to))
}

async function tryRelease(...args: string[]): Promise<{ code: number; said: string }> {
  const lines: string[] = []
  const code = await release(place, ['--registry', registry.url, ...args], (line) => lines.push(line))
  return { code, said: lines.join('\n') }
}

function commit(): void {
  git('add', '-A')
  git('commit', '-q', '-m', 'As it is')
  write(TESTED, `${git('rev-parse', 'HEAD')}\n`)
}

beforeEach(() => {
  place = join(temp, `place-${count++}`)
  registry.requests.length = 0
  registry.packages.clear()
  write('package.json', '{"name":"place","private":true,"repository":"https://example.com/somewhere/place"}')
  write('pnpm-workspace.yaml', 'packages:\n  - packages/*/*\n')
  write('.gitignore', 'node_modules\n')
  cpSync(join(root, 'LICENSE'), join(place, 'LICENSE'))
  writeAll('1.0.0')
  link('app', 'lib')
  link('lib', 'base')
  git('init', '-q', '-b', 'main')
  commit()
})

const PUBLISH = ['--publish', '--no-provenance']
const puts = (): string[] => registry.requests.filter((request) => request.startsWith('PUT'))

describe('a dry run', () => {
  it('lists packages in the order of publishing, and asks no registry', async () => {
    const { code, said } = await tryRelease()
    expect(said).toMatch(
      /^@place\/base +1\.0\.0 .* kB .*5 files\n@place\/lib .*\n@place\/app .*\n3 packages, .* kB packed/,
    )
    expect(said).toContain('this was a dry run, and nothing stands in the way')
    expect({ code, requests: registry.requests }).toEqual({ code: 0, requests: [] })
  })

  it('names everything that stands in the way', async () => {
    write('package.json', '{"name":"place","private":true}')
    write('.changeset/brave-cats.md', "---\n'@place/base': patch\n---\n\nA change.\n")
    commit()
    write(TESTED, 'some other commit\n')
    write('packages/group/lib/dist/index.js', "import 'left'\n")
    const { code, said } = await tryRelease()
    expect(code).toBe(1)
    expect(said.split('\n').slice(4)).toEqual([
      '✗ 1 files are not as they are committed: M packages/group/lib/dist/index.js',
      '✗ changes wait for a version (brave-cats.md): run "node scripts/bump.mjs", commit, and come again',
      expect.stringContaining('✗ "npm test" has not passed for this commit'),
      expect.stringContaining('✗ nothing says where the source is kept'),
      '✗ @place/lib: its dist/index.js imports left, which it does not depend on',
      'nothing was published: 5 problems',
    ])
  })

  it('takes the word of who says that the tests passed', async () => {
    write(TESTED, 'some other commit\n')
    expect(await tryRelease('--tested')).toMatchObject({ code: 0 })
  })
})

it('publishes nothing when one package has a problem', async () => {
  write('packages/group/app/dist/index.js', "import 'left'\n")
  commit()
  expect(await tryRelease(...PUBLISH)).toMatchObject({ code: 1 })
  expect(registry.requests).toEqual([])
})

it('goes on after a failure, and leaves alone what is there', async () => {
  registry.failures.set('@place/lib', { status: 403, kept: false })
  const first = await tryRelease(...PUBLISH)
  expect(first.code).toBe(1)
  expect(first.said).toContain('@place/base@1.0.0 published\n@place/lib@1.0.0 was not published: ')
  expect(first.said).toContain('the registry has a bad day')
  expect(first.said).toContain('1 packages are there, 2 are not; the same command goes on from here')
  expect([...registry.packages.keys()]).toEqual(['@place/base'])

  registry.requests.length = 0
  const second = await tryRelease(...PUBLISH)
  expect(second).toMatchObject({ code: 0 })
  expect(second.said).toContain(
    '@place/base@1.0.0 was there already\n@place/lib@1.0.0 published\n@place/app@1.0.0 published',
  )
  expect(puts()).toEqual(['PUT /@place/lib', 'PUT /@place/app'])
  expect(registry.packages.get('@place/app')).toMatchObject({
    'dist-tags': { latest: '1.0.0' },
    versions: {
      '1.0.0': { dependencies: { '@place/lib': '^1.0.0' }, repository: { directory: 'packages/group/app' } },
    },
  })
  expect(registry.packages.get('@place/lib')?.versions).toMatchObject({
    '1.0.0': { peerDependencies: { '@place/base': '^1.0.0' } },
  })
})

it('believes the registry that has a package rather than the error it gave', async () => {
  registry.failures.set('@place/base', { status: 500, kept: true })
  const { code, said } = await tryRelease(...PUBLISH)
  expect(said).toContain('@place/base@1.0.0 published, though the registry answered with an error')
  expect(code).toBe(0)
})

it('refuses a version that the registry has with other contents', async () => {
  await tryRelease(...PUBLISH)
  write('packages/group/lib/README.md', '# Changed\n')
  commit()
  registry.requests.length = 0
  const { code, said } = await tryRelease(...PUBLISH)
  expect(code).toBe(1)
  expect(said).toMatch(/@place\/lib@1\.0\.0 was not published: the registry has this version with other contents/)
  expect(puts()).toEqual([])
})

it('publishes a prerelease under a name that no plain install gets', async () => {
  writeAll('2.0.0-rc.1')
  commit()
  expect(await tryRelease(...PUBLISH)).toMatchObject({ code: 0 })
  expect(registry.packages.get('@place/app')?.['dist-tags']).toEqual({ next: '2.0.0-rc.1' })
})

it('asks for a statement of provenance unless told not to, which no desk can make', async () => {
  const { code, said } = await tryRelease('--publish')
  expect(code).toBe(1)
  expect(said).toMatch(/provenance/)
  expect(registry.packages.size).toBe(0)
})

describe('where the source is kept', () => {
  it.each([
    ['git@github.com:somewhere/place.git', 'https://github.com/somewhere/place.git'],
    ['ssh://git@example.com/somewhere/place', 'https://example.com/somewhere/place'],
    ['git+https://example.com/somewhere/place.git', 'https://example.com/somewhere/place.git'],
    ['/home/somebody/place', undefined],
    ['https://somebody:secret@example.com/place', undefined],
  ])('is read from the remote %s', (remote, address) => {
    write('package.json', '{"name":"place","private":true}')
    git('remote', 'add', 'origin', remote)
    expect(repositoryOf(place)).toBe(address)
  })
})
