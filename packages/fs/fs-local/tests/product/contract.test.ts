// fs-local against the contract of file services.
import { Context, disposeAndJoin } from '@deepseek-ai/cordis'
import FsLocal from '@deepseek-ai/dsh-fs-local'
import { testFs } from '../../../../testing/testkit/src/index.ts'
import { describe, it } from 'vitest'

const slow = (name: string, body: () => Promise<void>): void => it(name, body, 180_000)

testFs(
  { describe, it: Object.assign(slow, { skip: it.skip }) },
  'fs-local',
  async () => {
    const ctx = new Context()
    const fiber = await ctx.plugin(FsLocal)
    return { fs: ctx.fs, dispose: () => disposeAndJoin(fiber) }
  },
  { host: { module: new URL('host.mjs', import.meta.url).href, factory: 'fsLocal' } },
)
