// Every tarball as the registry would get it, and each defect that keeps one from being published.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { problemsOf } from '../../release/check.ts'
import { packagesNamed } from '../../release/imports.ts'
import { packAll } from '../../release/pack.ts'
import { packed, root } from './packed.ts'

const tarballs = await packed()
const versions = Object.fromEntries(tarballs.map(({ manifest }) => [manifest.name, manifest.version]))
const temp = mkdtempSync(join(tmpdir(), 'dsh-pack-'))
afterAll(() => rmSync(temp, { recursive: true, force: true }))

it.each(tarballs)('$manifest.name is fit to be published', async (tarball) => {
  expect(await problemsOf(tarball, { root, versions })).toEqual([])
})

it('packs each package after those that it needs', () => {
  const names = tarballs.map(({ manifest }) => manifest.name)
  for (const [index, { manifest }] of tarballs.entries()) {
    const needed = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })
    const later = needed.filter((name) => names.indexOf(name) > index)
    expect([manifest.name, later]).toEqual([manifest.name, []])
  }
})

it('finds imports wherever they are written, and no words in strings', () => {
  const code = `import 'a'; export * from '@b/c/d'; import('e'); export { f } from 'f'; import g from 'node:fs'; import './h.js'; const text = "import 'i'"`
  expect([...packagesNamed('x.js', code)]).toEqual(['a', '@b/c', 'e', 'f', 'node:fs'])
  const types = `export declare function j(k: import('l').M): typeof import('n'); import type { O } from 'o'`
  expect([...packagesNamed('x.d.ts', types)].sort()).toEqual(['l', 'n', 'o'])
})

describe('a workspace of its own', () => {
  const GOOD: Record<string, string> = {
    'package.json': JSON.stringify({
      name: 'fixture',
      version: '1.0.0',
      description: 'Nothing much.',
      license: 'MIT',
      type: 'module',
      files: ['dist'],
      exports: {
        '.': { '@deepseek-ai/source': './src/index.ts', types: './dist/index.d.ts', default: './dist/index.js' },
      },
      scripts: { build: 'true' },
      devDependencies: { typescript: '*' },
      engines: { node: '>=20' },
    }),
    'README.md': '# Nothing much\n',
    'src/index.ts': 'export const one = 1\n',
    'dist/index.js': 'export const one = 1\n//# sourceMappingURL=index.js.map\n',
    'dist/index.js.map': JSON.stringify({
      version: 3,
      sources: ['../src/index.ts'],
      sourcesContent: [''],
      mappings: '',
    }),
    'dist/index.d.ts': 'export declare const one = 1\n',
  }
  let count = 0

  /** The problems of the good package with some files otherwise, or with its manifest changed. */
  async function problems(files: Record<string, string>, manifest: object = {}): Promise<string[]> {
    const place = join(temp, `case-${count++}`)
    const folder = join(place, 'packages/group/fixture')
    const merged = JSON.stringify({ ...(JSON.parse(GOOD['package.json'] ?? '') as object), ...manifest })
    for (const [path, text] of Object.entries({ ...GOOD, 'package.json': merged, ...files })) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), text)
    }
    writeFileSync(join(place, 'package.json'), '{"name":"place","private":true}')
    writeFileSync(join(place, 'pnpm-workspace.yaml'), 'packages:\n  - packages/*/*\n')
    cpSync(join(root, 'LICENSE'), join(place, 'LICENSE'))
    const [tarball] = await packAll(place, join(place, 'tarballs'), 'https://example.com/somewhere/place')
    if (tarball === undefined) throw new Error('nothing was packed')
    return problemsOf(tarball, { root: place, versions: { fixture: '1.0.0', other: '1.0.0' } })
  }

  it('finds nothing wrong with what is as it should be, and packs what concerns nobody else away', async () => {
    expect(await problems({})).toEqual([])
    const tarball = join(temp, `case-${count - 1}`, 'tarballs/fixture-1.0.0.tgz')
    const manifest = JSON.parse(
      execFileSync('tar', ['-xzOf', tarball, 'package/package.json'], { encoding: 'utf8' }),
    ) as object
    expect(manifest).toMatchObject({
      repository: {
        type: 'git',
        url: 'git+https://example.com/somewhere/place.git',
        directory: 'packages/group/fixture',
      },
      exports: { '.': { types: './dist/index.d.ts', default: './dist/index.js' } },
    })
    expect(JSON.stringify(manifest)).not.toMatch(/source"|devDependencies|scripts/)
  })

  it.each<[what: string, files: Record<string, string>, manifest: object, problem: RegExp]>([
    [
      'an undeclared import',
      { 'dist/index.js': "import 'left'\nexport const one = 1\n" },
      {},
      /imports left, which it does not depend on/,
    ],
    [
      'an undeclared import of types',
      { 'dist/index.d.ts': "export declare const one: import('right').R\n" },
      {},
      /index\.d\.ts imports right/,
    ],
    [
      'a map that points outside',
      { 'dist/index.js.map': JSON.stringify({ sources: ['../../x.ts'], sourcesContent: [''] }) },
      {},
      /points outside: \.\.\/\.\.\/x\.ts/,
    ],
    [
      'a map without its sources',
      { 'dist/index.js.map': JSON.stringify({ sources: ['../src/index.ts'] }) },
      {},
      /neither holds nor finds/,
    ],
    [
      'a map that is not there',
      { 'dist/index.js': 'export const one = 1\n//# sourceMappingURL=other.js.map\n' },
      {},
      /names a source map that is not there/,
    ],
    [
      'a declaration of a file that is gone',
      { 'dist/old.d.ts': 'export {}\n' },
      {},
      /old\.d\.ts is made from nothing any more/,
    ],
    ['sources', {}, { files: ['dist', 'src'] }, /ships src\/index\.ts/],
    ['a stamp of the compiler', { 'dist/.tsbuildinfo': '{}' }, {}, /only a build here has a use for/],
    [
      'a range of this checkout',
      {},
      { dependencies: { other: 'link:../other' } },
      /means nothing outside this checkout/,
    ],
    [
      'a range that misses what is published with it',
      {},
      { dependencies: { other: '^0.9.0' } },
      /but 1\.0\.0 is published with it/,
    ],
    [
      'a program that no shell can start',
      { 'dist/bin.js': 'export {}\n' },
      { bin: { fixture: './dist/bin.js' } },
      /does not name node in its first line/,
    ],
    [
      'a missing entry',
      {},
      { exports: { '.': { types: './dist/index.d.ts', default: './dist/gone.js' } } },
      /publint: .*gone\.js/,
    ],
    [
      'types that only a bundler finds',
      {
        'src/other.ts': 'export const two = 2\n',
        'dist/other.d.ts': 'export declare const two = 2\n',
        'dist/index.d.ts': "export { two } from './other'\n",
      },
      {},
      /are-the-types-wrong: InternalResolutionError/,
    ],
    ['nothing built', {}, { files: ['dist', 'presets'] }, /nothing is in presets\//],
  ])('refuses %s', async (_what, files, manifest, problem) => {
    expect((await problems(files, manifest)).join('\n')).toMatch(problem)
  })

  it('refuses a file that names a folder of this machine', async () => {
    const place = join(temp, `case-${count}`)
    const found = await problems({ 'dist/index.js': `export const one = ${JSON.stringify(`${place}/src`)}\n` })
    expect(found).toEqual([`its dist/index.js names a folder of this machine: ${place}`])
  })
})

describe('a new version', () => {
  const place = join(temp, 'bump')
  const git = (...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@example.com', ...args], {
      cwd: place,
      encoding: 'utf8',
    })
  const manifest = (name: string): string => readFileSync(join(place, `packages/group/${name}/package.json`), 'utf8')

  beforeAll(() => {
    for (const name of ['peer', 'one', 'two']) mkdirSync(join(place, 'packages/group', name), { recursive: true })
    const write = (name: string, more: object): void =>
      writeFileSync(
        join(place, `packages/group/${name}/package.json`),
        `${JSON.stringify({ name: `@deepseek-ai/${name}`, version: '0.2.0', ...more }, null, 2)}\n`,
      )
    const peer = {
      devDependencies: { '@deepseek-ai/peer': 'workspace:^' },
      peerDependencies: { '@deepseek-ai/peer': 'workspace:^' },
    }
    write('peer', {})
    write('one', peer)
    write('two', { dependencies: { '@deepseek-ai/one': 'workspace:^' }, ...peer })
    writeFileSync(join(place, 'package.json'), '{"name":"place","private":true}\n')
    writeFileSync(join(place, 'pnpm-workspace.yaml'), 'packages:\n  - packages/*/*\n')
    cpSync(join(root, '.changeset'), join(place, '.changeset'), {
      recursive: true,
      filter: (path) => !path.endsWith('.md'),
    })
    git('init', '-q', '-b', 'main')
  })

  it.each([
    ['patch', '0.2.1'],
    ['minor', '0.3.0'],
  ])(
    'of a %s in one package is %s for all, with ranges kept and the change told where it was made',
    (size, version) => {
      writeFileSync(join(place, '.changeset/brave-cats.md'), `---\n'@deepseek-ai/one': ${size}\n---\n\nSay one.\n`)
      git('add', '-A')
      git('commit', '-q', '-m', 'A change')
      const before = ['peer', 'one', 'two'].map(manifest)
      execFileSync(process.execPath, [join(root, 'scripts/bump.mjs'), place], { stdio: 'pipe' })
      const after = ['peer', 'one', 'two'].map(manifest)
      expect(after).toEqual(before.map((text) => text.replace('"version": "0.2.0"', `"version": "${version}"`)))
      expect(readFileSync(join(place, 'packages/group/one/CHANGELOG.md'), 'utf8')).toContain('- Say one.')
      expect(readFileSync(join(place, 'packages/group/two/CHANGELOG.md'), 'utf8')).toBe(
        `# @deepseek-ai/two\n\n## ${version}\n`,
      )
      git('clean', '-qfd')
      git('checkout', '-q', '.')
    },
  )
})
