// `dsh new tool`: what it makes works as it stands, and is a package as npm and TypeScript want one.
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkout, World } from './harness.ts'

const run = promisify(execFile)

let world: World
beforeAll(async () => {
  world = new World()
  const { code, stdout } = await world.dsh([
    'new',
    'tool',
    'WordCount',
    '--package',
    '@me/words',
    '--description',
    'Says "how\tmuch".',
  ])
  expect(code).toBe(0)
  expect(stdout).toContain('dsh call word_count')
})
afterAll(() => world.remove())

const at = (...parts: string[]): string => world.file(join('word-count', ...parts))

describe('dsh new tool', () => {
  it('makes a tool that is called, kept to the contract and offered, with nothing installed', async () => {
    const words = ['call', 'word_count', '{"text":"one two"}', '--patch', 'word-count/cordis.yml', '--json']
    expect(await world.dsh(words)).toMatchObject({
      code: 0,
      stdout: '{"lines":1,"words":2,"characters":7}\n',
      stderr: '',
    })
    const checked = await world.dsh(['tools', 'check', './word-count/src/index.ts', '--generate'])
    expect(checked).toMatchObject({ code: 0, stdout: expect.stringMatching(/^word_count: \d+ passed, 0 failed/) })
    const asked = await world.dsh(['run', '/word_count one two three', '--patch', 'word-count/cordis.yml'])
    expect(asked).toMatchObject({ code: 0, stdout: expect.stringContaining('3 words') })
  })

  it('fills every place of the templates, and names the package as it was asked to', () => {
    const files = readdirSync(at(), { recursive: true, withFileTypes: true }).filter((each) => each.isFile())
    expect(files.length).toBeGreaterThan(7)
    for (const file of files)
      expect(readFileSync(join(file.parentPath, file.name), 'utf8'), file.name).not.toMatch(/\{\{/)
    const manifest = JSON.parse(readFileSync(at('package.json'), 'utf8')) as Record<string, unknown>
    const { version } = JSON.parse(readFileSync(join(checkout, 'packages/boot/cli/package.json'), 'utf8')) as {
      version: string
    }
    expect(manifest).toMatchObject({
      name: '@me/words',
      description: 'Says "how much".',
      peerDependencies: { '@deepseek-ai/cordis': `^${version}`, '@deepseek-ai/dsh-tools': `^${version}` },
    })
  })

  it('compiles, and passes its own tests below a folder with other tests', async () => {
    installed()
    await run(process.execPath, [join(checkout, 'node_modules/typescript/bin/tsc')], { cwd: at() })
    expect(existsSync(at('dist/index.d.ts'))).toBe(true)
    writeFileSync(world.file('vitest.config.mjs'), "export default { test: { include: ['packages/*/*.test.ts'] } }\n")
    const tests = await run(process.execPath, [join(checkout, 'node_modules/vitest/vitest.mjs'), 'run'], {
      cwd: at(),
      env: { ...process.env, ...world.env, CI: 'true' },
    })
    expect(tests.stdout).toMatch(/Tests .*\d+ passed/)
    const built = await world.dsh(['tools', 'check', './word-count/dist/index.js', '--generate'])
    expect(built).toMatchObject({ code: 0, stdout: expect.stringMatching(/^word_count: \d+ passed, 0 failed/) })
  }, 60_000)

  it('packs what it exports, which a project mounts by its name', async () => {
    const npm = {
      cwd: world.path,
      env: { ...process.env, ...world.env, npm_config_offline: 'true', npm_config_audit: 'false' },
    }
    const packed = await run('npm', ['pack', '--ignore-scripts', '--json', './word-count'], npm)
    const [{ filename, files }] = JSON.parse(packed.stdout) as [{ filename: string; files: { path: string }[] }]
    expect(files.map(({ path }) => path).sort()).toEqual([
      'README.md',
      'dist/index.d.ts',
      'dist/index.js',
      'dist/word-count.d.ts',
      'dist/word-count.js',
      'package.json',
    ])
    mkdirSync(world.file('project'))
    writeFileSync(world.file('project/cordis.yml'), "- name: '@me/words'\n")
    await run('npm', ['install', '--prefix', 'project', '--legacy-peer-deps', `./${filename}`], npm)
    const called = await world.dsh(['call', 'word_count', '{"text":"one"}', '--patch', 'project/cordis.yml', '--json'])
    expect(called).toMatchObject({ code: 0, stdout: '{"lines":1,"words":1,"characters":3}\n', stderr: '' })
  })

  it.each([
    [['../x'], /letters and digits/],
    [['9lives'], /a letter first/],
    [['x'.repeat(61)], /at most 60/],
    [['word-count'], /is there and not empty/],
    [['other', '--package', 'Not A Name'], /no name for a package/],
    [[], /missing required argument/],
  ])('refuses %j and writes nothing', async (words, message) => {
    const before = readdirSync(world.path).sort()
    const refused = await world.dsh(['new', 'tool', ...words])
    expect(refused).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(message) })
    expect(readdirSync(world.path).sort()).toEqual(before)
  })
})

/** As after an install from npm, which has these packages once they are published. */
function installed(): void {
  mkdirSync(at('node_modules/@deepseek-ai'), { recursive: true })
  const packages = { cordis: 'core/cordis', 'dsh-tools': 'core/tools', 'dsh-testkit': 'testing/testkit' }
  for (const [name, folder] of Object.entries(packages)) {
    symlinkSync(join(checkout, 'packages', folder), at('node_modules/@deepseek-ai', name), 'junction')
  }
  symlinkSync(join(checkout, 'node_modules/vitest'), at('node_modules/vitest'), 'junction')
}
