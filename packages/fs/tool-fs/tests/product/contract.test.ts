// The file tools against the contract of tools, with real files.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Context } from '@deepseek-ai/cordis'
import { Approval } from '@deepseek-ai/dsh-approval'
import { FsLocal } from '@deepseek-ai/dsh-fs-local'
import { SandboxPolicyService } from '@deepseek-ai/dsh-sandbox'
import { testTool, type ToolCheckOptions } from '@deepseek-ai/dsh-testkit'
import { fsTools, type FsTools } from '@deepseek-ai/dsh-tool-fs'
import { describe, it } from 'vitest'

const made = (name: keyof FsTools) => (ctx: Context) => fsTools({ fs: ctx.fs })[name]

/** One pixel. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

const world: Pick<ToolCheckOptions, 'plugins' | 'setup' | 'teardown' | 'normalize'> = {
  async plugins(ctx) {
    await ctx.plugin(FsLocal)
  },
  setup() {
    const cwd = realpathSync(mkdtempSync(join(tmpdir(), 'dsh-tool-fs-')))
    mkdirSync(join(cwd, 'd'))
    writeFileSync(join(cwd, 'a.txt'), 'one\ntwo\ntwo\nthree\n')
    writeFileSync(join(cwd, 'crlf.txt'), 'one\r\ntwo\r\n')
    writeFileSync(join(cwd, 'long.txt'), 'x'.repeat(5000) + '\n'.repeat(5000))
    writeFileSync(join(cwd, 'binary'), Buffer.from([0, 1, 2, 3]))
    writeFileSync(join(cwd, 'dot.png'), Buffer.from(PNG, 'base64'))
    symlinkSync('a.txt', join(cwd, 'link'))
    return { cwd }
  },
  // Each run has a folder of its own.
  normalize: (value) => ({ ...Object(value), path: '' }) as unknown,
  teardown: ({ cwd = '' }) => rmSync(cwd, { recursive: true, force: true }),
}

const PATHS = ['a.txt', 'crlf.txt', 'long.txt', 'binary', 'link', 'd', 'd/new.txt', 'nowhere', '../nowhere', 'a.txt/b']

testTool({ describe, it }, made('read'), {
  ...world,
  title: 'read',
  args: [{ path: 'a.txt' }, { path: 'crlf.txt', offset: 2 }, { path: 'long.txt', offset: 3000, limit: 10 }],
  arbitraries: (fc) => ({ path: fc.constantFrom(...PATHS) }),
})

testTool({ describe, it }, made('read_image'), {
  ...world,
  title: 'read_image',
  args: [{ path: 'dot.png' }],
  arbitraries: (fc) => ({ path: fc.constantFrom('dot.png', ...PATHS) }),
})

testTool({ describe, it }, made('list_dir'), {
  ...world,
  title: 'list_dir',
  args: [{}, { path: 'd' }, { path: '.', offset: 2, limit: 2 }, { offset: 100 }],
  arbitraries: (fc) => ({ path: fc.constantFrom(...PATHS) }),
})

// Each run has a folder of its own, which what a generator makes up may fill as it likes.
testTool({ describe, it }, made('write'), {
  ...world,
  title: 'write',
  args: [
    { path: 'new/file.txt', content: 'x\n' },
    { path: 'a.txt', content: '' },
    { path: 'crlf.txt', content: 'a\nb\n' },
    { path: 'binary', content: 'text' },
  ],
  arbitraries: (fc) => ({ path: fc.constantFrom(...PATHS.slice(0, 7), 'a.txt/b') }),
})

const OLD_TEXTS = ['one', 'two', ' two ', 'one\ntwo', 'nowhere', '']

testTool({ describe, it }, made('edit'), {
  ...world,
  title: 'edit',
  args: [
    { path: 'a.txt', old_text: 'one', new_text: '1' },
    { path: 'a.txt', old_text: 'two', new_text: '', replace_all: true },
    { path: 'crlf.txt', old_text: 'one\ntwo', new_text: 'two\none' },
    { path: 'link', old_text: ' three', new_text: 'drei' },
  ],
  arbitraries: (fc) => ({ path: fc.constantFrom(...PATHS), old_text: fc.constantFrom(...OLD_TEXTS) }),
})

testTool({ describe, it }, made('multi_edit'), {
  ...world,
  title: 'multi_edit',
  args: [
    {
      path: 'a.txt',
      edits: [
        { old_text: 'one', new_text: '1' },
        { old_text: 'two', new_text: '2', replace_all: true },
      ],
    },
  ],
  arbitraries: (fc) => ({ path: fc.constantFrom(...PATHS), 'edits[].old_text': fc.constantFrom(...OLD_TEXTS) }),
})

testTool(
  { describe, it },
  (ctx) => fsTools({ fs: ctx.fs, approval: ctx.approval, sandboxPolicy: ctx.sandboxPolicy }).write,
  {
    ...world,
    title: 'write that can be escalated',
    async plugins(ctx) {
      await ctx.plugin(FsLocal)
      await ctx.plugin(SandboxPolicyService, { mode: 'danger-full-access' })
      await ctx.plugin(Approval, { policy: 'never' })
    },
    args: [{ path: 'a.txt', content: 'x' }],
    arbitraries: (fc) => ({ path: fc.constantFrom(...PATHS.slice(0, 7)) }),
    skip: { 'args-valid': 'nothing is wider than full access, which is what makes every made-up escalation invalid' },
  },
)
