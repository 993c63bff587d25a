// The bash tool: the shared shell tool in the words of bash. Knows no provider and no policy.
import type { Context } from '@deepseek-ai/cordis'
import type { Shell } from '@deepseek-ai/dsh-shell'
import {
  applyShellTool,
  shellTool,
  shellToolConfig,
  type ShellServices,
  type ShellToolConfig,
  type ShellWording,
} from '@deepseek-ai/dsh-shell-tool'
import type { ToolDefinition } from '@deepseek-ai/dsh-tools'

const WORDING: ShellWording = {
  tool: 'bash',
  dialect: 'bash',
  summary: 'Runs a command with bash and returns its output and how it ended.',
  command: 'The command line, as bash reads it. May span several lines.',
  backgroundSign: '"&"',
}

export const name = 'tool-bash'
export const inject = ['tools', 'shell']
export const Config = shellToolConfig(name)

export function apply(ctx: Context, config?: Partial<ShellToolConfig>): void {
  applyShellTool(ctx, WORDING, config)
}

/** The definition, for hosts that register tools by hand. */
export function bashTool(
  shell: Shell,
  services: Omit<ShellServices, 'shell'> = {},
  config?: Partial<ShellToolConfig>,
): ToolDefinition {
  return shellTool(WORDING, { shell, ...services }, config)
}
