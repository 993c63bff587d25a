// bash-sandbox, with the sandbox of this machine, against the contract of shells. HOME and the temporary folder are the test's own:
// the policy refuses a writable folder above the home folder, wherever that lies outside.
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Context, disposeAndJoin } from '@deepseek-ai/cordis'
import BashSandbox from '@deepseek-ai/dsh-bash-sandbox'
import { SandboxPolicyService } from '@deepseek-ai/dsh-sandbox'
import SandboxLocal from '@deepseek-ai/dsh-sandbox-local'
import { afterAll, describe, it } from 'vitest'
import { testShell } from '../../../../testing/testkit/src/index.ts'

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'dsh-bash-sandbox-')))
for (const [variable, name] of Object.entries({ HOME: 'home', DSH_HOME: 'home/.dsh', TMPDIR: 'tmp' })) {
  process.env[variable] = join(folder, name)
  mkdirSync(join(folder, name), { recursive: true })
}
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function host() {
  const ctx = new Context()
  await ctx.plugin(SandboxLocal)
  const writableRoots = [realpathSync(tmpdir())]
  await ctx.plugin(SandboxPolicyService, { mode: 'workspace-write', network: 'none', writableRoots })
  return ctx
}

const probe = await host()
const status = await probe.sandbox.status()
await probe.fiber.dispose()
const why = status.available ? '' : ` (skipped: ${status.reason})`

describe.skipIf(!status.available)(`confined by the sandbox of this machine${why}`, () => {
  testShell({ describe, it }, 'bash-sandbox', async () => {
    const ctx = await host()
    const fiber = await ctx.plugin(BashSandbox, { graceMs: 500, maxTimeoutMs: 60_000 })
    return {
      shell: ctx.shell,
      // What a command leaves behind ends with the process namespace of its call.
      leavesRunning: false,
      dispose: async () => {
        await disposeAndJoin(fiber)
        await ctx.fiber.dispose()
      },
    }
  })
})
