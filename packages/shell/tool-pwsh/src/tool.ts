// The pwsh tool: the shared shell tool in the words of PowerShell. Knows no provider and no policy.
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
  tool: 'pwsh',
  dialect: 'pwsh',
  summary: 'Runs a PowerShell script and returns its output and how it ended.',
  command: 'The script, as PowerShell reads it. May span several lines.',
  backgroundSign: 'Start-Process',
  notes:
    'The exit code is that of the last native program, or 1 after an error that ended the script. Prefer -ErrorAction Stop over errors that scroll by. Paths may have forward slashes.',
}

export const name = 'tool-pwsh'
export const inject = ['tools', 'shell']
export const Config = shellToolConfig(name)

export function apply(ctx: Context, config?: Partial<ShellToolConfig>): void {
  applyShellTool(ctx, WORDING, config)
}

/** The definition, for hosts that register tools by hand. */
export function pwshTool(
  shell: Shell,
  services: Omit<ShellServices, 'shell'> = {},
  config?: Partial<ShellToolConfig>,
): ToolDefinition {
  return shellTool(WORDING, { shell, ...services }, config)
}
