// The contract of the system prompt. No behaviour lives here.
import type { ScopeKey } from '@deepseek-ai/cordis'
import type { ToolSchema } from '@deepseek-ai/dsh-tools'

export interface AssembleContext {
  /** The agent that asks; omitted: the global view. */
  scope?: ScopeKey
}

/** Text, or a function of the asking scope; an empty text drops the section. */
export type PromptText = string | ((context: AssembleContext) => string)

export interface PromptSection {
  /** Unique within its layer. */
  name: string
  /** Ascending; ties by registration. Identity -100, persona 0, plan 50, tool guidance 100 to 199. */
  order: number
  text: PromptText
}

export interface AssembledPrompt {
  /** Non-empty sections in order. */
  sections: { name: string; text: string }[]
  /** Changing facts (date, policy, folder): sent as a trailing message, never in the prefix. */
  contexts: { name: string; text: string }[]
  tools: ToolSchema[]
  /** The sections joined by blank lines: byte-identical for an unchanged composition. */
  system: string
}

/** `ctx.systemPrompt` */
export interface SystemPromptService {
  /** Registers in the layer of the calling context (global, or an agent's scope) and dies with its fiber. */
  section(section: PromptSection): () => void
  context(section: PromptSection): () => void
  /** Where the tool schemas come from; several providers are concatenated. The tool registry registers itself here. */
  tools(provider: (scope?: ScopeKey) => readonly ToolSchema[]): () => void
  assemble(context?: AssembleContext): AssembledPrompt
}
