// The config of `ctx.jobs`: defaults and bounds.
import { MAX_DELAY_MS, configSchema, wholeNumber, type ConfigCheck } from '@deepseek-ai/cordis'
import type { JobsConfig } from './types.ts'

const delivery: ConfigCheck = (value) => (value === 'wakeup' || value === 'quiet' ? undefined : '"wakeup" or "quiet"')

export const jobsConfig = configSchema<JobsConfig>(
  'jobs',
  {
    maxRunningPerOwner: 10,
    maxKeptPerOwner: 50,
    outputLimitBytes: 32_768,
    completionDelivery: 'wakeup',
    maxConsecutiveWakes: 3,
    stopTimeoutMs: 5000,
  },
  {
    maxRunningPerOwner: wholeNumber(1, 10_000),
    maxKeptPerOwner: wholeNumber(0, 10_000),
    outputLimitBytes: wholeNumber(256, 16 * 1024 * 1024),
    completionDelivery: delivery,
    maxConsecutiveWakes: wholeNumber(0, 1000),
    stopTimeoutMs: wholeNumber(0, MAX_DELAY_MS),
  },
)
