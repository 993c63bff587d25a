// The bash tool against the contract of tools, with real processes.
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'vitest'
import { testTool } from '../../../../testing/testkit/src/index.ts'
import BashLocal from '../../../bash-local/src/index.ts'
import { bashTool } from '../../src/index.ts'

const description = 'Run a test'

testTool({ describe, it }, (ctx) => bashTool(ctx.shell), {
  title: 'bash',
  plugins: async (ctx) => {
    await ctx.plugin(BashLocal, { graceMs: 300 })
  },
  setup: () => ({ cwd: realpathSync(mkdtempSync(join(tmpdir(), 'dsh-tool-bash-'))) }),
  teardown: ({ cwd }) => rmSync(cwd!, { recursive: true, force: true }),
  args: [
    { command: 'echo hi; echo no >&2; exit 3', description },
    { command: 'kill -KILL $$', description, workdir: '.' },
    { command: 'sleep 5', description, timeoutMs: 50 },
    { command: 'head -c 300000 /dev/zero', description },
  ],
  slowArgs: [{ command: 'sleep 30 & sleep 30', description }],
  // Nothing that a generator makes up may reach a shell.
  arbitraries: (fc) => ({
    command: fc.constantFrom(
      'true',
      'false',
      'cat',
      'pwd',
      'seq 2000',
      'printf "\\xff\\xfe"',
      'no-such-program',
      'if',
      '>&-',
    ),
    workdir: fc.constantFrom('.', '..', 'nowhere'),
    timeoutMs: fc.integer({ min: 500, max: 2 ** 40 }),
  }),
})
