// A host with the real registry, the real file provider and the file tools, working in a folder of its own.
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createHost, type Context } from '@deepseek-ai/cordis'
import { FsLocal } from '@deepseek-ai/dsh-fs-local'
import {
  ToolRegistry,
  contentText,
  type ToolAgent,
  type ToolExecutionInput,
  type ToolExecutionResult,
} from '@deepseek-ai/dsh-tools'
import { onTestFinished } from 'vitest'
import * as toolFs from '@deepseek-ai/dsh-tool-fs'
import type { ChangeValue, ListValue, ReadValue, ToolFsConfig } from '@deepseek-ai/dsh-tool-fs'

export interface World {
  readonly ctx: Context
  readonly dir: string
  /** What the host logged. */
  readonly log: string[]
  /** Who calls unless another agent is named. */
  readonly agent: ToolAgent
  at(name: string): string
  put(name: string, bytes: string | Uint8Array): void
  bytes(name: string): Buffer
  text(name: string): string
  /** Through the whole pipeline. */
  call(name: string, args: unknown, more?: Partial<ToolExecutionInput>): Promise<ToolExecutionResult>
}

export function temporaryFolder(): string {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'dsh-tool-fs-')))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

export interface WorldOptions {
  readonly config?: Partial<ToolFsConfig>
  /** Plugins that are there before the tools. */
  readonly plugins?: (ctx: Context, dir: string) => Promise<void>
}

export async function startWorld({ config = {}, plugins }: WorldOptions = {}): Promise<World> {
  const dir = temporaryFolder()
  const log: string[] = []
  const host = createHost({ write: (line) => log.push(line) })
  onTestFinished(() => host.dispose())
  const { ctx } = host
  await ctx.plugin(ToolRegistry)
  await ctx.plugin(FsLocal)
  await plugins?.(ctx, dir)
  await ctx.plugin(toolFs, config)
  const { tools } = ctx
  const agent = agentAt(dir)
  let calls = 0
  const at = (name: string): string => join(dir, name)
  return {
    ctx,
    dir,
    log,
    agent,
    at,
    put(name, bytes) {
      mkdirSync(dirname(at(name)), { recursive: true })
      writeFileSync(at(name), bytes)
    },
    bytes: (name) => readFileSync(at(name)),
    text: (name) => readFileSync(at(name), 'utf8'),
    call: (name, args, more = {}) =>
      tools.execute({
        callId: `call-${++calls}`,
        name,
        arguments: args,
        signal: new AbortController().signal,
        agent,
        ...more,
      }),
  }
}

export const agentAt = (cwd: string, id = 'a1'): ToolAgent => ({ id, cwd, inject() {} })

/** The text that a model reads. */
export const told = (result: ToolExecutionResult): string => contentText(result.content)

/** Fails the test when the call failed. */
function valueOf(result: ToolExecutionResult): unknown {
  if (result.isError) throw new Error(`the call failed: ${result.error.code}: ${result.error.message}`)
  return result.value
}

export const changeOf = (result: ToolExecutionResult): ChangeValue => valueOf(result) as ChangeValue
export const readOf = (result: ToolExecutionResult): ReadValue => valueOf(result) as ReadValue
export const listOf = (result: ToolExecutionResult): ListValue => valueOf(result) as ListValue

/** Fails the test when the call did not fail. */
export function errorOf(result: ToolExecutionResult): { readonly code: string; readonly message: string } {
  if (!result.isError) throw new Error(`the call succeeded: ${told(result)}`)
  return result.error
}
