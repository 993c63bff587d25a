// bash-sandbox, with the sandbox of this machine, against the contract of shells.
import { realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { Context, disposeAndJoin } from '@deepseek-ai/cordis'
import BashSandbox from '@deepseek-ai/dsh-bash-sandbox'
import { SandboxPolicyService } from '@deepseek-ai/dsh-sandbox'
import SandboxLocal from '@deepseek-ai/dsh-sandbox-local'
import { describe, it } from 'vitest'
import { testShell } from '../../../../testing/testkit/src/index.ts'

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
