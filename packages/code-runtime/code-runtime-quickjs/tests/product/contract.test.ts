import { Context, disposeAndJoin } from '@deepseek-ai/cordis'
import { testCodeRuntime } from '@deepseek-ai/dsh-testkit'
import { describe, it } from 'vitest'
import CodeRuntimeQuickjs from '../../src/index.ts'

testCodeRuntime({ describe, it }, 'code-runtime-quickjs', async (limits) => {
  const ctx = new Context()
  const fiber = await ctx.plugin(CodeRuntimeQuickjs, limits)
  return { runtime: ctx.codeRuntime, dispose: () => disposeAndJoin(fiber) }
})
