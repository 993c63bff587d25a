// What a host in a process of its own boots, from the built packages.
import { Context } from '@deepseek-ai/cordis'
import FsLocal from '@deepseek-ai/dsh-fs-local'

export async function fsLocal() {
  const ctx = new Context()
  await ctx.plugin(FsLocal)
  return { fs: ctx.fs, dispose: () => ctx.fiber.dispose() }
}
