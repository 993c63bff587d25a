// Both tools against the contract of tools, with real trees.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'vitest'
import { testTool, type ToolSuiteOptions } from '../../../../testing/testkit/src/index.ts'
import { globTool, grepTool } from '../../src/index.ts'

const world: Pick<ToolSuiteOptions, 'setup' | 'teardown'> = {
  setup() {
    const cwd = realpathSync(mkdtempSync(join(tmpdir(), 'dsh-search-')))
    mkdirSync(join(cwd, 'src'))
    writeFileSync(join(cwd, 'src/a.ts'), 'export const a = 1\r\n// a line with "a" in it\r\n')
    writeFileSync(join(cwd, 'src/binary'), 'a\0a\n')
    writeFileSync(join(cwd, 'long.js'), `${'x'.repeat(100_000)}a${'漢'.repeat(100_000)}\n`)
    writeFileSync(join(cwd, '.env'), 'a\n')
    writeFileSync(join(cwd, 'many.txt'), 'a é\n'.repeat(30_000))
    writeFileSync(Buffer.concat([Buffer.from(`${cwd}/`), Buffer.from('n\xff', 'latin1')]), 'a\n')
    symlinkSync('.', join(cwd, 'loop'))
    return { cwd }
  },
  teardown: ({ cwd = '' }) => rmSync(cwd, { recursive: true, force: true }),
}

testTool({ describe, it }, () => grepTool(), {
  ...world,
  title: 'grep',
  args: [
    { pattern: 'a' },
    { pattern: 'nothing at all' },
    { pattern: 'a', mode: 'count', include_ignored: true },
    { pattern: 'a', mode: 'files', glob: ['*.ts', '!b'] },
    { pattern: 'const.*line', multiline: true, context: 2, path: 'src' },
    { pattern: 'a', limit: 10_000, offset: 29_000 },
  ],
  arbitraries: (fc) => ({
    path: fc.constantFrom('.', 'src', 'src/a.ts', 'nowhere'),
    type: fc.constantFrom('ts', 'md', 'nope'),
  }),
})

testTool({ describe, it }, () => globTool(), {
  ...world,
  title: 'glob',
  args: [
    { pattern: '**/*' },
    { pattern: '*.nothing' },
    { pattern: 'src/*', order: 'newest', exclude: ['binary'] },
    { pattern: '*', include_ignored: true, limit: 2, offset: 1 },
  ],
  arbitraries: (fc) => ({
    path: fc.constantFrom('.', 'src', 'src/a.ts', 'nowhere'),
    pattern: fc.constantFrom('*', '**/*.ts', '{a,b}*', '[', '!src', '.env', 'src/'),
  }),
})
