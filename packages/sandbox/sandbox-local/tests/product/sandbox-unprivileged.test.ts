// The same contract as an ordinary user: a runner started by root keeps other things from root than from others.
import { rmSync } from 'node:fs'
import { createHost } from '@deepseek-ai/cordis'
import { SandboxLocal } from '@deepseek-ai/dsh-sandbox-local'
import { testSandbox } from '@deepseek-ai/dsh-testkit'
import { afterAll, describe, it } from 'vitest'

const NOBODY = 65_534
const isRoot = process.getuid?.() === 0

if (isRoot) {
  // For good, and for this process alone: each file of these tests has one of its own.
  process.setgroups?.([NOBODY])
  process.setgid?.(NOBODY)
  process.setuid?.(NOBODY)
  process.env['HOME'] = '/nonexistent'
  const tempBase = `/var/tmp/dsh-sandbox-test-${process.pid}`
  afterAll(() => rmSync(tempBase, { recursive: true, force: true }))
  testSandbox({ describe, it }, 'sandbox-local as nobody', async () => {
    const { ctx, dispose } = createHost()
    await ctx.plugin(SandboxLocal, { tempBase })
    return { sandbox: ctx.sandbox, dispose }
  })
} else {
  describe('sandbox-local as nobody', () => {
    it.skip('needs root to become nobody; the other file ran as an ordinary user', () => {})
  })
}
