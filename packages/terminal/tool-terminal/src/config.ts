// The configuration of the terminal tools: its fields, defaults and bounds.
import { MAX_DELAY_MS, configSchema, fillDefaults, wholeNumber } from '@deepseek-ai/cordis'

export interface ToolTerminalConfig {
  /** Of one result, in UTF-8 bytes. Default 32,768. */
  maxResultBytes: number
  /** How long terminal_open waits for the first prompt, in milliseconds. Default 5000. */
  openTimeoutMs: number
  /** How long a person may take over a prompt that hides its answer before terminal_send comes back without it, in milliseconds. Default 300,000. */
  promptTimeoutMs: number
}

const DEFAULTS: ToolTerminalConfig = { maxResultBytes: 32_768, openTimeoutMs: 5000, promptTimeoutMs: 300_000 }

export const Config = configSchema('tool-terminal', DEFAULTS, {
  maxResultBytes: wholeNumber(1024, 16 * 1024 * 1024),
  openTimeoutMs: wholeNumber(1, MAX_DELAY_MS),
  promptTimeoutMs: wholeNumber(0, MAX_DELAY_MS),
})

export function withDefaults(options: Partial<ToolTerminalConfig>): ToolTerminalConfig {
  return fillDefaults(DEFAULTS, options)
}
