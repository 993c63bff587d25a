// A registry with the search tools and files for long results, and calls of them in one folder.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Context } from '../../packages/core/cordis/dist/index.js'
import { ToolRegistry } from '../../packages/core/tools/dist/index.js'
import * as search from '../../packages/fs/tool-fs-search/dist/index.js'
import Spill from '../../packages/spill/spill/dist/index.js'

export async function searchHost(cwd) {
  const ctx = new Context()
  await ctx.plugin(ToolRegistry)
  const dir = mkdtempSync(join(tmpdir(), 'dsh-bench-spill-'))
  await ctx.plugin(Spill, { dir })
  await ctx.plugin(search)
  const { tools } = ctx
  const agent = { id: 'bench', cwd, inject() {} }
  const { signal } = new AbortController()
  return {
    async call(name, args) {
      const result = await tools.execute({ callId: 'bench', name, arguments: args, signal, agent })
      if (result.isError) throw new Error(result.error.message)
    },
    async dispose() {
      await ctx.fiber.dispose()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}
