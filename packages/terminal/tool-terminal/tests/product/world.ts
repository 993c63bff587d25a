// Real terminals for the tools, in a folder of their own.
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Context } from '@deepseek-ai/cordis'
import * as terminalPty from '../../../terminal-pty/src/index.ts'
import { Terminals } from '../../../terminal/src/index.ts'

export const temporaryFolder = (): string => realpathSync(mkdtempSync(join(tmpdir(), 'dsh-tool-terminal-')))

export const removed = (folder: string): void => rmSync(folder, { recursive: true, force: true })

export async function realTerminals(ctx: Context): Promise<void> {
  await ctx.plugin(Terminals, { maxPerOwner: 1000 })
  await ctx.plugin(terminalPty, { disposeGraceMs: 300, timeoutMs: 5000, idleSilenceMs: 1000 })
}
