// The config of read-before-write: what holds for calls that no agent makes.
import { configSchema } from '@deepseek-ai/cordis'

export interface ReadBeforeWriteConfig {
  /**
   * Calls without an agent, from a command line or an embedding host: `allow` lets them write, `track` holds them to the rule together,
   * as one reader, as long as the plugin lives. Default `allow`.
   */
  withoutAgent: 'allow' | 'track'
}

export const DEFAULTS: ReadBeforeWriteConfig = { withoutAgent: 'allow' }

export const Config = configSchema<ReadBeforeWriteConfig>('read-before-write', DEFAULTS, {
  withoutAgent: (value) => (value === 'allow' || value === 'track' ? undefined : '"allow" or "track"'),
})
