// Programs: the runtime with `run_code` and the whole pipeline around it, as a model's call would run.
import { Context } from '../../packages/core/cordis/dist/index.js'
import CodeRuntimeQuickjs from '../../packages/code-runtime/code-runtime-quickjs/dist/index.js'
import ToolRegistry, { defineTool } from '../../packages/core/tools/dist/index.js'
import { median, time } from './measure.mjs'

async function programs() {
  const ctx = new Context()
  await ctx.plugin(ToolRegistry, { mode: 'code', maxProgramOutputBytes: 16 * 1024 * 1024 })
  await ctx.plugin(CodeRuntimeQuickjs, {})
  const { tools } = ctx
  tools.register(
    defineTool({
      name: 'echo',
      description: 'Echoes.',
      parameters: { i: { type: 'integer', required: true } },
      output: { schema: { type: 'integer' }, render: (_args, value) => [{ type: 'text', text: String(value) }] },
      execute: (args) => args.i,
    }),
  )
  const { signal } = new AbortController()
  const run = async (code) => {
    const args = { code, description: 'bench' }
    const result = await tools.execute({ callId: 'bench', name: 'run_code', arguments: args, signal })
    if (result.isError) throw new Error(result.error.message)
  }
  const measured = async (code) => {
    const times = []
    for (let round = 0; round < 15; round++) {
      times.push(await time(() => run(code)))
      // A model's programs are seconds apart; meanwhile the runtime prepares the next context.
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    return median(times.slice(3))
  }
  // Nor does a host run one as it starts: the worker has rested, and rehearsed.
  await new Promise((resolve) => setTimeout(resolve, 2000))
  const results = [
    { id: 'code-empty', value: await measured('return 1'), unit: 'ms', budget: 2 },
    {
      id: 'code-1000',
      value: await measured('for (let i = 0; i < 1000; i++) await tools.echo({ i })'),
      unit: 'ms',
      budget: 50,
    },
    { id: 'code-1mb', value: await measured('return "x".repeat(1e6)'), unit: 'ms', budget: 50 },
  ]
  await ctx.fiber.dispose()
  return results
}

export const benches = [programs]
