// The configuration of terminal-pty: its fields, defaults and bounds.
import { MAX_DELAY_MS, configSchema, fillDefaults, nonBlankText, nonBlankTexts, wholeNumber } from '@deepseek-ai/cordis'

export interface TerminalPtyConfig {
  /** Absolute path of the shell. Omitted: the first `bash` on the host's PATH. */
  shellPath?: string
  /** Omitted: `--noprofile --norc -i` for bash, `-i` for others. */
  args?: readonly string[]
  rows: number
  cols: number
  /** Kept lines; `scrollbackMaxBytes` may lower it. */
  scrollbackLines: number
  /** Memory that the kept lines may take, at 12 bytes a column. */
  scrollbackMaxBytes: number
  /** Text that one send or read returns, in UTF-8 bytes. */
  maxReadBytes: number
  /** Silence before a program is looked at for whether it reads from its terminal, in milliseconds. */
  exactProbeAfterMs: number
  /** The same for one that waits for its terminal among other things, in milliseconds. */
  handoffGraceMs: number
  /** Silence after which a send comes back, in milliseconds. */
  idleSilenceMs: number
  /** Of a send that names none, in milliseconds. */
  timeoutMs: number
  /** What a close gives programs to end by themselves, in milliseconds. */
  disposeGraceMs: number
  /** Exact names of host variables that reach the shell although they look like secrets. */
  envAllow: readonly string[]
}

export type TerminalPtyOptions = Partial<TerminalPtyConfig>

const DEFAULTS: TerminalPtyConfig = {
  rows: 40,
  cols: 160,
  scrollbackLines: 10_000,
  scrollbackMaxBytes: 4 * 1024 * 1024,
  maxReadBytes: 256 * 1024,
  exactProbeAfterMs: 150,
  handoffGraceMs: 500,
  idleSilenceMs: 3000,
  timeoutMs: 30_000,
  disposeGraceMs: 3000,
  envAllow: [],
}

export const Config = configSchema<TerminalPtyConfig>('terminal-pty', DEFAULTS, {
  shellPath: nonBlankText,
  args: (value) =>
    Array.isArray(value) && value.every((each) => typeof each === 'string') ? undefined : 'a list of strings',
  rows: wholeNumber(2, 1000),
  cols: wholeNumber(2, 1000),
  scrollbackLines: wholeNumber(1, 1_000_000),
  scrollbackMaxBytes: wholeNumber(1024, 1024 * 1024 * 1024),
  maxReadBytes: wholeNumber(64, 64 * 1024 * 1024),
  exactProbeAfterMs: wholeNumber(1, MAX_DELAY_MS),
  handoffGraceMs: wholeNumber(0, MAX_DELAY_MS),
  idleSilenceMs: wholeNumber(1, MAX_DELAY_MS),
  timeoutMs: wholeNumber(1, MAX_DELAY_MS),
  disposeGraceMs: wholeNumber(0, MAX_DELAY_MS),
  envAllow: nonBlankTexts,
})

export function withDefaults(options: TerminalPtyOptions): TerminalPtyConfig {
  return fillDefaults(DEFAULTS, options)
}
