// Registers the file tools, follows the services that change what they can do, and tells a model how to work with files.
import { FiberState, fillDefaults, type Context } from '@deepseek-ai/cordis'
import type { PromptSection } from '@deepseek-ai/dsh-system-prompt'
import type { ToolDefinition } from '@deepseek-ai/dsh-tools'
import { Config, TOOL_FS_DEFAULTS, type ToolFsConfig } from './config.ts'
import { editTool, multiEditTool } from './edit.ts'
import { hostEvents } from './events.ts'
import { listDirTool } from './list-dir.ts'
import { followModels } from './image-access.ts'
import { readImageTool } from './read-image.ts'
import { readTool } from './read.ts'
import type { FsToolServices, FsToolSetup } from './services.ts'
import { TargetQueue } from './target-queue.ts'
import { writeTool } from './write.ts'

const GUIDANCE = `Work on files with the file tools: read instead of cat or sed, edit instead of sed or a heredoc, write for new files, list_dir for \
folders. Read a file before you change it. A result of edit or write proves what it touched; you need not read the file again after it. \
After a command has changed files (a formatter, a generator, git), read again what you want to edit.`

const SECTION: PromptSection = { name: 'tool:fs', order: 100, text: GUIDANCE }

export const name = 'tool-fs'
export const inject = ['tools', 'fs']
export { Config }

export interface FsTools {
  readonly read: ToolDefinition
  readonly read_image: ToolDefinition
  readonly list_dir: ToolDefinition
  readonly write: ToolDefinition
  readonly edit: ToolDefinition
  readonly multi_edit: ToolDefinition
}

/** The definitions, for hosts that register tools by hand. What the services cannot do is left out of the parameters. */
export function fsTools(services: FsToolServices, options: Partial<ToolFsConfig> = {}): FsTools {
  const setup = { services, config: fillDefaults(TOOL_FS_DEFAULTS, options), queue: new TargetQueue() }
  return {
    read: readTool(setup),
    read_image: readImageTool(setup),
    list_dir: listDirTool(setup),
    ...changeTools(setup),
  }
}

function changeTools(setup: FsToolSetup): Pick<FsTools, 'write' | 'edit' | 'multi_edit'> {
  return { write: writeTool(setup), edit: editTool(setup), multi_edit: multiEditTool(setup) }
}

const OPTIONAL = ['approval', 'sandboxPolicy'] as const

export function apply(ctx: Context, options: Partial<ToolFsConfig> = {}): void {
  const { fs, tools } = ctx
  const services: { -readonly [Name in keyof FsToolServices]: FsToolServices[Name] } = { fs, events: hostEvents(ctx) }
  const setup = { services, config: fillDefaults(TOOL_FS_DEFAULTS, options), queue: new TargetQueue() }
  tools.register(readTool(setup))
  tools.register(listDirTool(setup))
  let disposers: (() => unknown)[] = []
  const register = (): void => {
    for (const dispose of disposers) void dispose()
    disposers = []
    if (ctx.fiber.state !== FiberState.ACTIVE && ctx.fiber.state !== FiberState.LOADING) return
    disposers = Object.values(changeTools(setup)).map((tool: ToolDefinition) => tools.register(tool))
  }
  register()
  for (const service of OPTIONAL) {
    ctx.inject([service], (child) => {
      services[service] = child.get(service as never) as never
      register()
      child.effect(
        () => () => {
          delete services[service]
          register()
        },
        `tool-fs.${service}`,
      )
    })
  }
  ctx.inject(['llm'], (child) => {
    services.readsImages = followModels(child, readImageTool(setup))
    child.effect(() => () => void delete services.readsImages, 'tool-fs.readsImages')
  })
  ctx.inject(['systemPrompt'], (child) => {
    child.systemPrompt.section(SECTION)
  })
}
