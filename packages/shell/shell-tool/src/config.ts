// The configuration of a shell tool: its fields, defaults and bounds.
import { configSchema, fillDefaults, trueOrFalse, type ConfigSchema } from '@deepseek-ai/cordis'

export interface ShellToolConfig {
  /** Offer `run_in_background` when the host has jobs. Default true. */
  enableRunInBackground: boolean
  /** What happens at the limit of a foreground command: `kill` ends it, `promote` lets it go on as a job. Default `kill`. */
  atTimeout: 'kill' | 'promote'
}

const DEFAULTS: ShellToolConfig = { enableRunInBackground: true, atTimeout: 'kill' }

export function shellToolConfig(who: string): ConfigSchema<ShellToolConfig> {
  return configSchema(who, DEFAULTS, {
    enableRunInBackground: trueOrFalse,
    atTimeout: (value) => (value === 'kill' || value === 'promote' ? undefined : '"kill" or "promote"'),
  })
}

export function withDefaults(options: Partial<ShellToolConfig>): ShellToolConfig {
  return fillDefaults(DEFAULTS, options)
}
