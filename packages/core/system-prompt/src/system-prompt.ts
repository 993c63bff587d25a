// `ctx.systemPrompt`: collects sections, contexts and tool schemas from plugins and assembles what one scope is to be told. Fails
// closed: a part that cannot be computed leaves no prompt, rather than one that silently lacks a policy.
import { errorMessage, scopeOf, Service, type Context, type ScopeKey } from '@deepseek-ai/cordis'
import type { ToolSchema } from '@deepseek-ai/dsh-tools'
import { systemPromptConfig, type SystemPromptConfig } from './config.ts'
import { SystemPromptError } from './errors.ts'
import { SectionLayers } from './layers.ts'
import type { AssembleContext, AssembledPrompt, PromptSection, SystemPromptService } from './types.ts'

declare module '@deepseek-ai/cordis' {
  interface Context {
    systemPrompt: SystemPrompt
  }
}

type ToolProvider = (scope?: ScopeKey) => readonly ToolSchema[]

const DEFAULT_IDENTITY = `You are the dsh agent. You work for the person who writes to you, with the tools that are listed for you.
Do the work with the tools rather than describing it, and check what came of it. Say plainly what you did, what you did not do, and what failed. Never present a guess as a fact.`

export class SystemPrompt extends Service implements SystemPromptService {
  static Config = systemPromptConfig
  private readonly sections = new SectionLayers()
  private readonly contexts = new SectionLayers()
  private readonly providers = new Set<{ readonly provide: ToolProvider }>()

  constructor(ctx: Context, config: SystemPromptConfig = {}) {
    super(ctx, 'systemPrompt')
    const { identity = DEFAULT_IDENTITY, persona } = config
    if (identity !== false) this.section({ name: 'identity', order: -100, text: identity })
    if (persona !== undefined) this.section({ name: 'persona', order: 0, text: persona })
  }

  /** Throws `INVALID_SECTION` and `DUPLICATE_SECTION`. */
  section(section: PromptSection): () => void {
    return this.register('section', this.sections, section)
  }

  /** Throws `INVALID_SECTION` and `DUPLICATE_SECTION`. Names of contexts and of sections do not meet. */
  context(section: PromptSection): () => void {
    return this.register('context', this.contexts, section)
  }

  tools(provider: ToolProvider): () => void {
    const { providers } = this
    const dispose = this.ctx.effect(() => {
      // An object of its own: one function may be registered twice.
      const entry = { provide: provider }
      providers.add(entry)
      return () => void providers.delete(entry)
    }, 'systemPrompt.tools')
    return () => void dispose()
  }

  /** Throws `PROMPT_SECTION_FAILED`, `PROMPT_TOOLS_FAILED` and `DUPLICATE_TOOLS`, naming whose part it was. */
  assemble(context: AssembleContext = {}): AssembledPrompt {
    const { scope } = context
    const asking: AssembleContext = scope === undefined ? {} : { scope }
    const sections = texts('section', this.sections, asking)
    return {
      sections,
      contexts: texts('context', this.contexts, asking),
      tools: this.toolSchemas(scope),
      system: sections.map(({ text }) => text).join('\n\n'),
    }
  }

  private register(kind: 'section' | 'context', layers: SectionLayers, section: PromptSection): () => void {
    check(kind, section)
    const { ctx } = this
    const { name, order, text } = section
    const key = scopeOf(ctx)?.key
    const dispose = ctx.effect(() => {
      if (layers.has(name, key)) {
        const layer = key === undefined ? 'globally' : 'in this scope'
        throw new SystemPromptError(`the prompt ${kind} "${name}" is registered ${layer} already`, 'DUPLICATE_SECTION')
      }
      return layers.add({ name, order, text }, key)
    }, `systemPrompt.${kind}(${name})`)
    return () => void dispose()
  }

  private toolSchemas(scope: ScopeKey | undefined): ToolSchema[] {
    const tools: ToolSchema[] = []
    for (const { provide } of this.providers) {
      try {
        tools.push(...provide(scope))
      } catch (error) {
        const message = `a provider of tool schemas failed: ${errorMessage(error)}`
        throw new SystemPromptError(message, 'PROMPT_TOOLS_FAILED', { cause: error })
      }
    }
    const names = new Set<string>()
    for (const { name } of tools) names.add(name)
    if (names.size === tools.length) return tools
    throw repeatedTools(tools)
  }
}

function repeatedTools(tools: readonly ToolSchema[]): SystemPromptError {
  const seen = new Set<string>()
  const repeated = tools.map(({ name }) => name).filter((name) => seen.has(name) || !seen.add(name))
  const names = [...new Set(repeated)].map((name) => `"${name}"`).join(', ')
  return new SystemPromptError(
    `more than one tool is named ${names}; each tool that a model is told of needs a name of its own`,
    'DUPLICATE_TOOLS',
  )
}

function texts(
  kind: 'section' | 'context',
  layers: SectionLayers,
  context: AssembleContext,
): { name: string; text: string }[] {
  const found: { name: string; text: string }[] = []
  for (const { name, text } of layers.visible(context.scope)) {
    const value = typeof text === 'string' ? text : computed(kind, name, text, context)
    if (value !== '') found.push({ name, text: value })
  }
  return found
}

function computed(
  kind: 'section' | 'context',
  name: string,
  text: (context: AssembleContext) => string,
  context: AssembleContext,
): string {
  let value: unknown
  try {
    value = text(context)
  } catch (error) {
    const message = `the prompt ${kind} "${name}" failed: ${errorMessage(error)}`
    throw new SystemPromptError(message, 'PROMPT_SECTION_FAILED', { cause: error })
  }
  if (typeof value === 'string') return value
  throw new SystemPromptError(
    `the prompt ${kind} "${name}" must give a string, got ${value instanceof Promise ? 'a promise' : typeof value}`,
    'PROMPT_SECTION_FAILED',
  )
}

function check(kind: string, { name, order, text }: PromptSection): void {
  const problem =
    typeof name !== 'string' || name === ''
      ? `needs a name, got ${JSON.stringify(name)}`
      : !Number.isFinite(order)
        ? `"${name}" needs a finite order, got ${String(order)}`
        : typeof text !== 'string' && typeof text !== 'function'
          ? `"${name}" needs a text or a function that gives one, got ${typeof text}`
          : undefined
  if (problem !== undefined) throw new SystemPromptError(`a prompt ${kind} ${problem}`, 'INVALID_SECTION')
}
