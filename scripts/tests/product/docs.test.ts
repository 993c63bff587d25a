// What the documents say, tried: TypeScript blocks compile against the built packages, commands print what is written, links lead somewhere.
import { execFile, execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startMockLlm } from '../../../packages/testing/llm-mock/src/index.ts'
import { announced, codeBlocks, links, prints, programs, transcript, writeFiles, type CodeBlock } from './markdown.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const entry = join(root, 'packages/boot/cli/dist/bin.js')
const temp = realpathSync(mkdtempSync(join(tmpdir(), 'dsh-docs-')))
const readmes = packageDirs().map((dir) => join(dir, 'README.md'))
const pages = ['README.md', 'README.zh.md', 'CONTRIBUTING.md', ...markdownBelow('docs')]
// The code of a translation is that of its original, which a test says.
const originals = pages.filter((file) => !file.endsWith('.zh.md'))
const read = (file: string): string => readFileSync(join(root, file), 'utf8')
const blocksOf = (file: string): CodeBlock[] => codeBlocks(read(file))

beforeAll(() => {
  if (!existsSync(entry)) throw new Error('these tests run the built command line; run "npm run build" first')
  linkPackages()
})
afterAll(() => rmSync(temp, { recursive: true, force: true }))

/** Folders of packages, relative to the root: those that the workspace compiles. */
function packageDirs(): string[] {
  const { references } = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8')) as {
    references: { path: string }[]
  }
  return references.map((reference) => reference.path)
}

function markdownBelow(dir: string): string[] {
  return readdirSync(join(root, dir), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => join(dir, file))
}

/** Every package below `node_modules`, as an installation would have them, resolved to what was built. */
function linkPackages(): void {
  // What is run counts as a module.
  writeFileSync(join(temp, 'package.json'), '{"type":"module"}')
  const modules = join(temp, 'node_modules')
  mkdirSync(join(modules, '@deepseek-ai'), { recursive: true })
  for (const dir of packageDirs()) {
    const { name } = JSON.parse(read(join(dir, 'package.json'))) as { name: string }
    symlinkSync(join(root, dir), join(modules, name))
  }
  for (const name of ['@types', 'vitest']) symlinkSync(join(root, 'node_modules', name), join(modules, name))
  // Note: never run `npm install` in a folder with these links: it prunes what it does not know, through them.
  mkdirSync(join(modules, '.bin'))
  symlinkSync(join(root, 'node_modules/typescript/bin/tsc'), join(modules, '.bin/tsc'))
  symlinkSync(join(root, 'node_modules/vitest/vitest.mjs'), join(modules, '.bin/vitest'))
}

/** Fragments may take for granted what the text around them says: a context, and the type of one. */
function compilable(text: string): string {
  const lines: string[] = []
  const needsType = /\bContext\b/.test(text) && !/import[^\n]*\bContext\b/.test(text)
  const needsValue = /\bctx\b/.test(text) && !/(const|\{|\() ?ctx\b|\(ctx\)/.test(text)
  if (needsType || needsValue) lines.push("import type { Context as GivenContext } from '@deepseek-ai/cordis'")
  if (needsType) lines.push('type Context = GivenContext')
  if (needsValue) lines.push('declare const ctx: GivenContext')
  return `${[...lines, text].join('\n')}\nexport {}\n`
}

/** Compiler output for the TypeScript blocks of a file, with the file's own line numbers. Blocks that name a file import each other. */
function typeCheck(file: string): string {
  const folder = join(temp, file.replaceAll(/\W/g, '-'))
  mkdirSync(join(folder, 'tests'), { recursive: true })
  mkdirSync(join(folder, 'src'), { recursive: true })
  // The provider that a reader of the testkit would have written.
  writeFileSync(join(folder, 'src/index.ts'), "export { default } from '@deepseek-ai/dsh-bash-local'\n")
  const files = new Set<string>()
  for (const block of programs(blocksOf(file))) {
    const { file: path = '' } = block
    const name = /\.m?ts$/.test(path) && !files.has(path) ? path : `tests/line-${block.line}.ts`
    files.add(name)
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), compilable(block.text))
  }
  const compilerOptions = {
    module: 'nodenext',
    target: 'es2023',
    lib: ['es2023'],
    types: ['node'],
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    exactOptionalPropertyTypes: true,
    allowImportingTsExtensions: true,
  }
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: [...files] }))
  try {
    return execFileSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', folder], {
      encoding: 'utf8',
    })
  } catch (error) {
    return (error as { stdout: string }).stdout
  }
}

describe('TypeScript in the documents', () => {
  const files = [...originals, ...readmes].filter(
    (file) => existsSync(join(root, file)) && programs(blocksOf(file)).length > 0,
  )
  it.each(files)('compiles in %s', (file) => {
    expect(typeCheck(file)).toBe('')
  })

  it('shows a short host', () => {
    const host = blocksOf('README.md').find((block) => block.file === 'host.mjs')
    expect(host?.text.trim().split('\n').length).toBeLessThanOrEqual(16)
  })

  const talking = files.flatMap((file) =>
    programs(blocksOf(file))
      .filter((block) => announced(block).length > 0)
      .map((block) => ({ file, block, place: `${file}:${block.line}` })),
  )
  it.each(talking)('prints what it says in $place', ({ file, block }) => {
    const folder = join(temp, `run-${file.replaceAll(/\W/g, '-')}-${block.line}`)
    mkdirSync(folder)
    writeFiles(join(root, file), folder)
    // The project that a reader of the file service would have.
    mkdirSync(join(folder, 'src'), { recursive: true })
    if (!existsSync(join(folder, 'src/main.ts'))) writeFileSync(join(folder, 'src/main.ts'), 'let a = 1\n')
    writeFileSync(join(folder, 'program.ts'), block.text)
    const run = [join(root, 'scripts/run-ts.mjs'), join(folder, 'program.ts')]
    const output = execFileSync(process.execPath, run, { cwd: folder, encoding: 'utf8', timeout: 30_000 })
    const shown = announced(block).join('\n')
    if (!prints(shown, output.trimEnd())) expect(output.trimEnd()).toBe(shown)
  })
})

/** Runs a command as it stands in the text, with the built command line in place of the package manager. */
function type(command: string, cwd: string): Promise<string> {
  const home = join(temp, 'home')
  const env = {
    PATH: process.env['PATH'],
    HOME: home,
    DSH_HOME: join(home, '.dsh'),
    NO_COLOR: '1',
    npm_config_offline: 'true',
    npm_config_audit: 'false',
    NODE: process.execPath,
    ENTRY: entry,
  }
  const script = command.replace(/(npm run dsh --|pnpm dsh)(?= )/, '"$NODE" "$ENTRY"')
  return new Promise((done, reject) => {
    execFile('sh', ['-c', `exec 2>&1; ${script}`], { cwd, env, timeout: 50_000 }, (error, stdout) => {
      // The exit code of a command that is shown to fail is the text's business.
      if (error?.killed === true) reject(new Error(`${command} did not end\n${stdout}`))
      else done(stdout.trim())
    })
  })
}

const typed = originals.filter((file) => blocksOf(file).some(({ language }) => language === 'console'))

it('finds the pages that show commands', () => {
  expect(typed).toEqual(
    expect.arrayContaining(['README.md', 'docs/cookbook/adding-a-tool.md', 'docs/user/develop/basic/tool.md']),
  )
})

describe.each(typed)('the commands of %s', (file) => {
  const folder = join(temp, 'reader', file)
  beforeAll(() => {
    mkdirSync(folder, { recursive: true })
  })
  it.each(transcript(blocksOf(file)))('print what is written for $command', async ({ command, output, line }) => {
    // Who reads from the top has the files above the command, and no other.
    writeFiles(join(root, file), folder, line)
    const printed = await type(command, folder)
    // The whole texts, so that a difference is seen.
    if (!prints(output, printed)) expect(printed).toBe(output)
  })
})

it('passes the tests that the testing page shows', () => {
  const folder = join(temp, 'testing')
  writeFiles(join(root, 'docs/testing.md'), folder)
  const vitest = [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--root', folder, '--reporter=json']
  const env = { PATH: process.env['PATH'], HOME: join(temp, 'home') }
  const report = execFileSync(process.execPath, vitest, { cwd: folder, env, encoding: 'utf8', timeout: 50_000 })
  const { numPassedTests, numFailedTests } = JSON.parse(report) as { numPassedTests: number; numFailedTests: number }
  expect(numFailedTests).toBe(0)
  // The checks of the contract, not only the one that the page adds.
  expect(numPassedTests).toBeGreaterThan(15)
})

it('names each suite of the testkit on the testing page, and no other', () => {
  const exported = read('packages/testing/testkit/src/index.ts').match(/\btest[A-Z]\w+/g)
  const named = read('docs/testing.md').match(/\btest[A-Z]\w+(?=[(`])/g)
  expect([...new Set(named)].sort()).toEqual([...new Set(exported)].sort())
})

it('composes every patch that the configuration page shows', async () => {
  const folder = join(temp, 'patches')
  mkdirSync(folder)
  writeFiles(join(root, 'docs/user/config.md'), folder)
  writeFiles(join(root, 'docs/user/develop/basic/tool.md'), folder)
  mkdirSync(join(folder, 'src'))
  const dump = (name: string): Promise<string> => type(`pnpm dsh config dump --preset headless --patch ${name}`, folder)
  const changes = await dump('changes.yml')
  expect(changes).toContain('timeoutMs: 30000')
  expect(changes).not.toContain('provider: deepseek')
  expect(changes).toMatch(/id: my-plugin\n/)
  expect(changes).toMatch(/id: tool-bash[^#]*disabled: true/)
  expect(await dump('my-rows.yml')).toContain('greeting: Hi')
  expect(await dump('ollama.yml')).toContain('baseURL: http://127.0.0.1:11434/v1')
})

it('gives the tutorial the same answer when an agent of a mock server calls the tool', async () => {
  const model = await startMockLlm()
  try {
    const folder = join(temp, 'mock')
    writeFiles(join(root, 'README.md'), folder)
    const settings = `OPENAI_BASE_URL=${model.url} OPENAI_API_KEY=none OPENAI_MODEL=qwen3`
    const answer = await type(
      `${settings} pnpm dsh run "Use the greet tool to greet Ada." --patch scratch-plugin/cordis.yml`,
      folder,
    )
    expect(answer).toBe('Hello, Ada!')
    expect(model.requests).toHaveLength(2)
  } finally {
    await model.close()
  }
})

describe('links', () => {
  it.each([...pages, ...readmes].filter((file) => existsSync(join(root, file))))('of %s lead to files', (file) => {
    const missing = links(read(file))
      .filter((target) => !/^[a-z]+:|^#/.test(target))
      .filter((target) => !existsSync(resolve(root, dirname(file), target.replace(/#.*/, ''))))
    expect(missing).toEqual([])
  })

  it('of the map reach every package', () => {
    const linked = links(read('README.md')).map((target) => target.replace(/\/README\.md$/, ''))
    expect(packageDirs().filter((dir) => !linked.includes(dir))).toEqual([])
  })
})

describe.each([['README'], ['docs/cookbook/adding-a-tool']])('%s in both languages', (page) => {
  it('has the same code and the same sections', () => {
    const code = (file: string): string[] =>
      blocksOf(file)
        .filter((block) => block.language !== 'sh')
        .map((block) => block.text)
    expect(code(`${page}.zh.md`)).toEqual(code(`${page}.md`))
    const parts = (file: string): number => read(file).match(/^##+ /gm)!.length
    expect(parts(`${page}.zh.md`)).toBe(parts(`${page}.md`))
  })
})

it('has a README in every package that exports anything', () => {
  const silent = packageDirs()
    .filter((dir) => /^export (?!\{\})/m.test(read(join(dir, 'src/index.ts'))))
    .filter((dir) => !existsSync(join(root, dir, 'README.md')))
  expect(silent).toEqual([])
})
