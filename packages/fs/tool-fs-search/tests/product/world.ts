// A host with the search tools over a folder of its own.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Context } from '@deepseek-ai/cordis'
import { contentText, ToolRegistry, type ToolExecutionInput, type ToolExecutionResult } from '@deepseek-ai/dsh-tools'
import { onTestFinished } from 'vitest'
import * as search from '../../src/index.ts'
import type { GlobValue, GrepValue, SearchConfig } from '../../src/index.ts'

export interface World {
  readonly ctx: Context
  readonly folder: string
  write(path: string, content: string | Uint8Array): void
  call(name: 'grep' | 'glob', args: object, more?: Partial<ToolExecutionInput>): Promise<ToolExecutionResult>
  grep(args: object): Promise<GrepValue & { text: string }>
  glob(args: object): Promise<GlobValue & { text: string }>
}

export async function startWorld(
  config: Partial<SearchConfig> = {},
  plugins: (ctx: Context, folder: string) => Promise<void> = async () => {},
): Promise<World> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'dsh-search-')))
  const ctx = new Context()
  onTestFinished(async () => {
    await ctx.fiber.dispose()
    rmSync(folder, { recursive: true, force: true })
  })
  await ctx.plugin(ToolRegistry)
  await plugins(ctx, folder)
  await ctx.plugin(search, config)
  const call: World['call'] = (name, args, more = {}) => {
    const { signal } = new AbortController()
    const agent = { id: 'session-1', cwd: folder, inject: () => {} }
    return ctx.tools.execute({ callId: 'call-1', name, arguments: args, signal, agent, ...more })
  }
  const found = async (name: 'grep' | 'glob', args: object): Promise<unknown> => {
    const result = await call(name, args)
    const text = contentText(result.content)
    if (result.isError) throw new Error(`${result.error.code}: ${text}`)
    return { ...(result.value as object), text }
  }
  return {
    ctx,
    folder,
    write(path, content) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), content)
    },
    call,
    grep: (args) => found('grep', args) as Promise<GrepValue & { text: string }>,
    glob: (args) => found('glob', args) as Promise<GlobValue & { text: string }>,
  }
}

export function pathsOf(value: GrepValue): string[] {
  return value.files.map(({ path }) => path)
}

/** Rule by rule what was left out. */
export function skips({ completeness }: GrepValue | GlobValue): Record<string, number | null> {
  return Object.fromEntries(completeness.skipped.map(({ rule, count }) => [rule, count]))
}
