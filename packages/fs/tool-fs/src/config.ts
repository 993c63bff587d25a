// The config of tool-fs: how much of a file or of a folder one call may show.
import { configSchema, wholeNumber } from '@deepseek-ai/cordis'

export interface ToolFsConfig {
  /** Lines of one `read`, at most, and when the model names no number. Default 2,000. */
  readLimit: number
  /** Of one line, in UTF-16 units; a longer one is cut with a mark. Default 2,000. */
  readMaxLineLength: number
  /** Of one `read` as the model gets it, line numbers included, in UTF-8 bytes. Default 47,104, which a result is not cut for. */
  readMaxBytes: number
  /** Of a picture that `read_image` reads, in bytes. Default 4 MiB: as base64 it is in the log and in every later request. */
  imageMaxBytes: number
  /** Entries of one `list_dir`, at most, and when the model names no number. Default 1,000. */
  listLimit: number
}

export const TOOL_FS_DEFAULTS: ToolFsConfig = {
  readLimit: 2000,
  readMaxLineLength: 2000,
  readMaxBytes: 46 * 1024,
  imageMaxBytes: 4 * 1024 * 1024,
  listLimit: 1000,
}

const MIB = 1024 * 1024

export const Config = configSchema<ToolFsConfig>('tool-fs', TOOL_FS_DEFAULTS, {
  readLimit: wholeNumber(1, 1_000_000),
  readMaxLineLength: wholeNumber(20, MIB),
  readMaxBytes: wholeNumber(1024, 16 * MIB),
  imageMaxBytes: wholeNumber(1024, 64 * MIB),
  listLimit: wholeNumber(1, 100_000),
})
