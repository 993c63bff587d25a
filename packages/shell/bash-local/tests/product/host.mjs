// What a host in a process of its own boots, from the built packages.
import { Context } from '@deepseek-ai/cordis'
import BashLocal from '@deepseek-ai/dsh-bash-local'

export async function bashLocal() {
  const ctx = new Context()
  await ctx.plugin(BashLocal, { graceMs: 500 })
  return { shell: ctx.shell, dispose: () => ctx.fiber.dispose() }
}
