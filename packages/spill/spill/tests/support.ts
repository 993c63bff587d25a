// A host with the spill service over a temporary folder.
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHost, type Context } from '@deepseek-ai/cordis'
import { onTestFinished } from 'vitest'
import Spill, { type SpillConfig, type SpillSource } from '@deepseek-ai/dsh-spill'

export function temporaryFolder(): string {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'dsh-spill-')))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

export interface Fixture {
  readonly ctx: Context
  readonly spill: Spill
  readonly dir: string
  readonly log: string[]
  readonly dispose: () => Promise<void>
}

export async function startSpill(
  config: Partial<SpillConfig> = {},
  plugins: (ctx: Context) => Promise<void> = async () => {},
): Promise<Fixture> {
  const dir = config.dir ?? join(temporaryFolder(), 'spill')
  const log: string[] = []
  const host = createHost({ write: (line) => log.push(line) })
  const dispose = (): Promise<void> => host.dispose()
  onTestFinished(dispose)
  const { ctx } = host
  await plugins(ctx)
  await ctx.plugin(Spill, { ...config, dir })
  return { ctx, spill: ctx.spill, dir, log, dispose }
}

export function source(sessionId?: string, label = 'stdout'): SpillSource {
  return { sessionId, callId: 'call-1', toolName: 'bash', label }
}
