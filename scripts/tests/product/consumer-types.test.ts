// What a consumer of the published packages gets: packed as npm would get them, type-checked under both resolutions, and run.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { packedOnly, root } from './packed.ts'

const fixture = fileURLToPath(new URL('../fixtures/consumer', import.meta.url))
const facade = join(root, 'packages/core/cordis')
const project = mkdtempSync(join(tmpdir(), 'dsh-consumer-'))
const modules = join(project, 'node_modules')
const compilers = {
  'TypeScript 7': join(root, 'node_modules/typescript/bin/tsc'),
  'TypeScript 5.9': join(facade, 'node_modules/ts59/bin/tsc'),
}
const RESOLUTIONS = {
  nodenext: { module: 'nodenext', moduleResolution: 'nodenext' },
  bundler: { module: 'preserve', moduleResolution: 'bundler' },
}

function node(args: string[]): string {
  try {
    return execFileSync(process.execPath, args, { cwd: project, encoding: 'utf8' })
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string }
    throw new Error(`${args.join(' ')}\n${stdout}${stderr}`, { cause: error })
  }
}

async function install(name: string): Promise<void> {
  const { path } = await packedOnly(name)
  const target = join(modules, name)
  mkdirSync(target, { recursive: true })
  execFileSync('tar', ['-xzf', path, '-C', target, '--strip-components=1'])
}

function plugin(name: string): void {
  const dir = join(modules, name)
  mkdirSync(dir, { recursive: true })
  cpSync(join(fixture, `${name}.ts`), join(dir, 'index.ts'))
  const manifest = { name, version: '1.0.0', type: 'module', exports: { types: './index.d.ts', default: './index.js' } }
  writeFileSync(join(dir, 'package.json'), JSON.stringify(manifest))
  const flags = [
    '--module',
    'nodenext',
    '--target',
    'es2023',
    '--declaration',
    '--strict',
    '--types',
    '',
    join(dir, 'index.ts'),
  ]
  node([compilers['TypeScript 7'], ...flags])
  rmSync(join(dir, 'index.ts'))
}

beforeAll(async () => {
  await install('@deepseek-ai/cordis')
  await install('@deepseek-ai/dsh-tools')
  const upstream = realpathSync(join(facade, 'node_modules/cordis'))
  cpSync(upstream, join(modules, 'cordis'), { recursive: true, filter: (path) => !path.endsWith('node_modules') })
  cpSync(realpathSync(join(facade, 'node_modules/@standard-schema/spec')), join(modules, '@standard-schema/spec'), {
    recursive: true,
  })
  cpSync(realpathSync(join(upstream, '../cosmokit')), join(modules, 'cosmokit'), { recursive: true })
  writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'consumer', private: true, type: 'module' }))
  plugin('plugin-a')
  plugin('plugin-b')
  cpSync(join(fixture, 'consumer.ts'), join(project, 'consumer.ts'))
})
afterAll(() => rmSync(project, { recursive: true, force: true }))

describe.each(Object.entries(compilers))('%s', (_name, tsc) => {
  it.each(Object.entries(RESOLUTIONS))(
    'type-checks two augmenting packages at once under %s',
    (_resolution, options) => {
      const compilerOptions = {
        ...options,
        skipLibCheck: false,
        strict: true,
        verbatimModuleSyntax: true,
        exactOptionalPropertyTypes: true,
        target: 'es2023',
        lib: ['es2023', 'dom', 'esnext.disposable'],
        types: [],
      }
      writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['consumer.ts'] }))
      expect(node([tsc, '-p', project])).toBe('')
    },
  )
})

it('runs against the packed packages', () => {
  // The compilations above have emitted it.
  expect(node(['consumer.js']).trim()).toBe('42 42')
})
