// The contract of sandboxes, kept by sandbox-local as the user who runs the tests.
import { createHost } from '@deepseek-ai/cordis'
import { SandboxLocal } from '@deepseek-ai/dsh-sandbox-local'
import { testSandbox } from '@deepseek-ai/dsh-testkit'
import { describe, it } from 'vitest'

testSandbox({ describe, it }, 'sandbox-local', async () => {
  const host = createHost()
  await host.ctx.plugin(SandboxLocal, {})
  return { sandbox: host.ctx.sandbox, dispose: () => host.dispose() }
})
