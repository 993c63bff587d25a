// The pwsh tool against the contract of tools. Real processes; where there is no PowerShell, bash reads the commands, which are the same in both.
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'vitest'
import { testTool } from '../../../../testing/testkit/src/index.ts'
import { BashLocal } from '../../../bash-local/src/index.ts'
import { pwshTool } from '../../src/index.ts'

const description = 'Run a test'

testTool({ describe, it }, (ctx) => pwshTool(ctx.shell), {
  title: 'pwsh',
  plugins: async (ctx) => {
    await ctx.plugin(BashLocal, { graceMs: 300 })
  },
  setup: () => ({ cwd: realpathSync(mkdtempSync(join(tmpdir(), 'dsh-tool-pwsh-'))) }),
  teardown: ({ cwd }) => rmSync(cwd!, { recursive: true, force: true }),
  args: [
    { command: 'echo hi; exit 3', description },
    { command: 'sleep 5', description, timeoutMs: 50 },
  ],
  arbitraries: (fc) => ({
    command: fc.constantFrom('exit 0', 'exit 1', 'echo a b', 'no-such-program', 'if'),
    workdir: fc.constantFrom('.', '..', 'nowhere'),
    timeoutMs: fc.integer({ min: 500, max: 2 ** 40 }),
  }),
})
