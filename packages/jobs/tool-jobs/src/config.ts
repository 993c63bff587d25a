// The config of tool-jobs: how long a call may wait.
import { MAX_DELAY_MS, configSchema, wholeNumber } from '@deepseek-ai/cordis'

export interface ToolJobsConfig {
  /** How long `job_output` waits when the model names no time, in milliseconds. Default 30,000. */
  waitTimeoutMs: number
  /** The longest wait, in milliseconds. Default 600,000. */
  maxWaitTimeoutMs: number
}

export const TOOL_JOBS_DEFAULTS: ToolJobsConfig = { waitTimeoutMs: 30_000, maxWaitTimeoutMs: 600_000 }

export const Config = configSchema<ToolJobsConfig>('tool-jobs', TOOL_JOBS_DEFAULTS, {
  waitTimeoutMs: wholeNumber(0, MAX_DELAY_MS),
  maxWaitTimeoutMs: wholeNumber(1, MAX_DELAY_MS),
})
