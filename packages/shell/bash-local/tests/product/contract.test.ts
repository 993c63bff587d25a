// bash-local against the contract of shells.
import { Context, disposeAndJoin } from '@deepseek-ai/cordis'
import BashLocal from '@deepseek-ai/dsh-bash-local'
import { testShell } from '../../../../testing/testkit/src/index.ts'
import { describe, it } from 'vitest'

testShell(
  { describe, it: (name, body) => it(name, body, 400_000) },
  'bash-local',
  async () => {
    const ctx = new Context()
    const fiber = await ctx.plugin(BashLocal, { graceMs: 500, maxTimeoutMs: 60_000 })
    return { shell: ctx.shell, dispose: () => disposeAndJoin(fiber) }
  },
  { host: { module: new URL('host.mjs', import.meta.url).href, factory: 'bashLocal' }, endurance: true },
)
