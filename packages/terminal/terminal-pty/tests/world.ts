// A host with real terminals in a folder of its own.
import { mkdtempSync, readFileSync, readdirSync, readlinkSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHost, type Context } from '@deepseek-ai/cordis'
import { Terminals, type OpenRequest, type Terminal, type TerminalOwner } from '../../terminal/src/index.ts'
import * as terminalPty from '../src/index.ts'
import type { TerminalPtyOptions } from '../src/index.ts'

export interface World {
  readonly ctx: Context
  readonly folder: string
  readonly log: string[]
  open(request?: Partial<OpenRequest>): Promise<Terminal>
  /** Opens one and waits for its first prompt. */
  shell(request?: Partial<OpenRequest>): Promise<Terminal>
  dispose(): Promise<void>
}

/** Fast, and still slower than what it waits for. */
export const QUICK: TerminalPtyOptions = { disposeGraceMs: 400, timeoutMs: 20_000 }

export async function world(
  options: TerminalPtyOptions = {},
  prepare: (ctx: Context, folder: string) => Promise<void> = async () => {},
  base = tmpdir(),
): Promise<World> {
  const folder = realpathSync(mkdtempSync(join(base, 'dsh-pty-')))
  const log: string[] = []
  const host = createHost({ write: (line) => log.push(line) })
  await host.ctx.plugin(Terminals, { maxPerOwner: 1000 })
  await prepare(host.ctx, folder)
  await host.ctx.plugin(terminalPty, { ...QUICK, ...options })
  const open: World['open'] = (request = {}) => host.ctx.terminals.open({ owner: undefined, cwd: folder, ...request })
  return {
    ctx: host.ctx,
    folder,
    log,
    open,
    async shell(request) {
      const terminal = await open(request)
      await terminal.send({ text: '', submit: false })
      return terminal
    },
    async dispose() {
      await host.dispose()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

export const owner = (id: string, more: object = {}): TerminalOwner => ({ id, inject: () => {}, ...more })

export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

/** What the open descriptors of a process lead to. */
export function descriptors(pid: number | 'self' = 'self'): string[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap((each) => {
    try {
      return [readlinkSync(`/proc/${pid}/fd/${each}`)]
    } catch {
      return [] // the one that listed the folder
    }
  })
}

/** The text between two marks that a command printed, free of its own echo. */
export function between(text: string, begin: string, end: string): string {
  const from = text.lastIndexOf(begin) + begin.length
  return text.slice(from, text.indexOf(end, from))
}
