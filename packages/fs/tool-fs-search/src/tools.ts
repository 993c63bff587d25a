// The definitions of `grep` and `glob`, and the plugin body that registers them.
import type { Context } from '@deepseek-ai/cordis'
import type { PromptSection } from '@deepseek-ai/dsh-system-prompt'
import { defineTool, type ToolDefinition } from '@deepseek-ai/dsh-tools'
import { withDefaults, type SearchConfig } from './config.ts'
import { glob } from './glob.ts'
import { renderGlob } from './glob-render.ts'
import { GLOB_OUTPUT, GLOB_PARAMETERS } from './glob-schema.ts'
import { grep } from './grep.ts'
import { renderGrep } from './grep-render.ts'
import { GREP_OUTPUT, GREP_PARAMETERS } from './grep-schema.ts'
import { globMeta, grepMeta, presentGlobCall, presentGrepCall, presentSearchResult } from './present.ts'
import type { SearchServices } from './services.ts'

export const name = 'tool-fs-search'
export const inject = ['tools']

const RECEIPT = `The last lines, in brackets, say what was searched and what was not: hidden files and what ignore files exclude unless \
include_ignored is set, links, binary and unreadable files, what policy denies; and where the rest of a long result is.`

/** For hosts that register tools by hand. */
export function grepTool(services: SearchServices = {}, options: Partial<SearchConfig> = {}): ToolDefinition {
  const config = withDefaults(options)
  return defineTool({
    name: 'grep',
    description: `Searches the content of files with ripgrep and returns the lines that match, by file, in path order; or only the files, or \
counts. A file that "path" names is searched whatever it is. ${RECEIPT}`,
    parameters: GREP_PARAMETERS,
    output: {
      schema: GREP_OUTPUT,
      render: (_args, value) => [{ type: 'text', text: renderGrep(value) }],
      presentationMeta: (_args, value) => grepMeta(value),
    },
    isConcurrencySafe: () => true,
    execute: (args, exec) => grep({ services, config }, args, exec),
    presentCall: presentGrepCall,
    presentResult: (_args, result) => presentSearchResult(result),
  })
}

/** For hosts that register tools by hand. */
export function globTool(services: SearchServices = {}, options: Partial<SearchConfig> = {}): ToolDefinition {
  const config = withDefaults(options)
  return defineTool({
    name: 'glob',
    description: `Finds files by name, in path order or newest first. Folders are not listed. A pattern that names something with its leading dot \
finds it although it is hidden. ${RECEIPT}`,
    parameters: GLOB_PARAMETERS,
    output: {
      schema: GLOB_OUTPUT,
      render: (_args, value) => [{ type: 'text', text: renderGlob(value) }],
      presentationMeta: (_args, value) => globMeta(value),
    },
    isConcurrencySafe: () => true,
    execute: (args, exec) => glob({ services, config }, args, exec),
    presentCall: presentGlobCall,
    presentResult: (_args, result) => presentSearchResult(result),
  })
}

/** Registers both tools. `spill` and `sandboxPolicy` are used while they are there. */
export function apply(ctx: Context, options: Partial<SearchConfig> = {}): void {
  const { tools } = ctx
  // Read by each call as it starts.
  const services: SearchServices = {}
  for (const service of ['spill', 'sandboxPolicy'] as const) {
    ctx.inject([service], (child) => {
      services[service] = child.get(service as never) as never
      child.effect(() => () => void delete services[service], `search.${service}`)
    })
  }
  tools.register(grepTool(services, options))
  tools.register(globTool(services, options))
  ctx.inject(['systemPrompt'], (child) => {
    child.systemPrompt.section(SECTION)
  })
}

const SECTION: PromptSection = {
  name: 'tool:search',
  order: 104,
  text: `To find things in files use grep and glob, not shell commands: they say what they left out. No matches means none in what was \
searched: read the last line before you conclude that something does not exist.`,
}
