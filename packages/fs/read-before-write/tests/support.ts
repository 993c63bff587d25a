// A host with real sessions, the real file provider and the real file tools, in a folder of its own. May be ended and begun again.
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHost, type Context } from '@deepseek-ai/cordis'
import { Sessions, type Session } from '@deepseek-ai/dsh-session'
import { ToolRegistry, type ToolAgent, type ToolExecutionResult } from '@deepseek-ai/dsh-tools'
import { onTestFinished } from 'vitest'
import { FsLocal } from '../../fs-local/src/index.ts'
import * as toolFs from '../../tool-fs/src/index.ts'
import * as readBeforeWrite from '@deepseek-ai/dsh-read-before-write'
import type { ReadBeforeWriteConfig } from '@deepseek-ai/dsh-read-before-write'

export interface World {
  readonly ctx: Context
  readonly log: string[]
  /** An agent of a session that is made, or opened again. */
  agentOf(id: string): Promise<ToolAgent & { readonly session: Session }>
  call(agent: ToolAgent | undefined, name: string, args: object): Promise<ToolExecutionResult>
  end(): Promise<void>
}

export interface Folder {
  readonly dir: string
  at(name: string): string
  put(name: string, text: string): void
  text(name: string): string
}

export function startFolder(): Folder {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'dsh-read-before-write-')))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const at = (name: string): string => join(dir, name)
  return {
    dir,
    at,
    put: (name, text) => writeFileSync(at(name), text),
    text: (name) => readFileSync(at(name), 'utf8'),
  }
}

/** `policy: null` leaves the plugin out. */
export async function startWorld(
  folder: Folder,
  { policy = {} }: { policy?: Partial<ReadBeforeWriteConfig> | null } = {},
): Promise<World> {
  const log: string[] = []
  const host = createHost({ write: (line) => log.push(line) })
  onTestFinished(() => host.dispose())
  const { ctx } = host
  await ctx.plugin(Sessions, { dir: folder.at('.sessions'), fsync: 'never' })
  await ctx.plugin(ToolRegistry)
  await ctx.plugin(FsLocal)
  await ctx.plugin(toolFs)
  if (policy !== null) await ctx.plugin(readBeforeWrite, policy)
  let calls = 0
  return {
    ctx,
    log,
    async agentOf(id) {
      const session = await ctx.sessions.open(id).catch(() => ctx.sessions.create({ id, cwd: folder.dir }))
      return { id, cwd: folder.dir, session, inject() {} }
    },
    call: (agent, name, args) =>
      ctx.tools.execute({
        callId: `call-${++calls}`,
        name,
        arguments: args,
        signal: new AbortController().signal,
        agent,
      }),
    end: () => host.dispose(),
  }
}

/** The code of a failure, or `ok`. */
export const outcome = (result: ToolExecutionResult): string => (result.isError ? result.error.code : 'ok')

export const messageOf = (result: ToolExecutionResult): string => (result.isError ? result.error.message : '')
