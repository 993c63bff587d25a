// The config of `ctx.spill`: defaults and bounds.
import { isAbsolute } from 'node:path'
import { configSchema, wholeNumber, type ConfigCheck } from '@deepseek-ai/cordis'
import type { SpillConfig } from './types.ts'

const MIB = 1024 * 1024
const MAX_BYTES = Number.MAX_SAFE_INTEGER

const absoluteFolder: ConfigCheck = (value) =>
  typeof value === 'string' && isAbsolute(value) ? undefined : 'the absolute path of a folder'

/** `dir` has no default: the service refuses to start without it. */
export const spillConfig = configSchema<SpillConfig>(
  'spill',
  {
    dir: '',
    inlineBytes: 49_152,
    maxFileBytes: 64 * MIB,
    maxSessionBytes: 512 * MIB,
    maxTotalBytes: 4096 * MIB,
    keepHours: 168,
  },
  {
    dir: absoluteFolder,
    inlineBytes: wholeNumber(1024, 64 * MIB),
    maxFileBytes: wholeNumber(0, MAX_BYTES),
    maxSessionBytes: wholeNumber(0, MAX_BYTES),
    maxTotalBytes: wholeNumber(0, MAX_BYTES),
    keepHours: wholeNumber(0, 1_000_000),
  },
)
