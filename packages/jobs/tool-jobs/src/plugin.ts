// Registers the job tools, and what a model should know of jobs where a prompt service is there.
import { fillDefaults, type Context } from '@deepseek-ai/cordis'
import type { JobService } from '@deepseek-ai/dsh-jobs'
import type { PromptSection } from '@deepseek-ai/dsh-system-prompt'
import { Config, TOOL_JOBS_DEFAULTS, type ToolJobsConfig } from './config.ts'
import { jobKillTool, jobListTool, jobOutputTool } from './tools.ts'

const GUIDANCE = `A background job goes on after the call that started it. You get a message when it ends: do not poll for that, go on with \
other work. When there is nothing else to do, wait with job_output {wait: true}. Kill jobs that you no longer need with job_kill.`

const SECTION: PromptSection = { name: 'tool:jobs', order: 115, text: GUIDANCE }

export const name = 'tool-jobs'
export const inject = ['tools', 'jobs']
export { Config }

export function apply(ctx: Context, options: Partial<ToolJobsConfig> = {}): void {
  const { tools } = ctx
  const jobs: JobService = ctx.jobs
  const config = fillDefaults(TOOL_JOBS_DEFAULTS, options)
  tools.register(jobOutputTool(jobs, config))
  tools.register(jobListTool(jobs))
  tools.register(jobKillTool(jobs))
  ctx.inject(['systemPrompt'], (child) => {
    child.systemPrompt.section(SECTION)
  })
}
