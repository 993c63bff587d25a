// The words in which one shell's tool speaks to a model. Everything else of the tools is shared.
import type { ShellDialect } from '@deepseek-ai/dsh-shell'

export interface ShellWording {
  /** Name of the tool, and first part of its job ids. */
  readonly tool: string
  readonly dialect: ShellDialect
  /** First paragraph of the description. */
  readonly summary: string
  /** What the `command` parameter is. */
  readonly command: string
  /** How a command is left running without waiting for it, e.g. `"&"`. */
  readonly backgroundSign: string
  /** Further facts about this shell, a paragraph. */
  readonly notes?: string
}
