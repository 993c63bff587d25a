// The three job tools: an agent reads, lists and kills its own jobs. Knows no producer.
import type { JobOutput, JobRow, JobService } from '@deepseek-ai/dsh-jobs'
import { defineTool, type ToolDefinition } from '@deepseek-ai/dsh-tools'
import type { ToolJobsConfig } from './config.ts'
import { outputMeta, presentOutput, renderKill, renderList, renderOutput } from './render.ts'
import { JOB_ID, KILL_PARAMETERS, KILL_VALUE, LIST_VALUE, OUTPUT_VALUE } from './schema.ts'

export function jobOutputTool(jobs: JobService, config: ToolJobsConfig): ToolDefinition {
  const { waitTimeoutMs, maxWaitTimeoutMs } = config
  return defineTool({
    name: 'job_output',
    description:
      'Returns what a background job printed since the last read, and its status on the last line. Each piece of output is given once.',
    parameters: {
      job_id: JOB_ID,
      wait: { type: 'boolean', description: 'Wait when there is nothing new. Default: return at once.' },
      until: {
        type: 'string',
        enum: ['output', 'end'],
        description: 'What to wait for: new output or the end of the job, or its end alone. Default: output.',
      },
      timeout_ms: {
        type: 'integer',
        minimum: 0,
        description: `How long to wait, in milliseconds. Default ${waitTimeoutMs}; more than ${maxWaitTimeoutMs} counts as that. The job goes on.`,
      },
    },
    output: {
      schema: OUTPUT_VALUE,
      render: (_args, value) => [{ type: 'text', text: renderOutput(value).text }],
      presentationMeta: (_args, value) => outputMeta(value),
    },
    isConcurrencySafe: () => true,
    async execute({ job_id: id, wait = false, until = 'output', timeout_ms: asked = waitTimeoutMs }, exec) {
      const { agent, signal } = exec
      const timeoutMs = Math.min(asked, maxWaitTimeoutMs)
      if (wait) await jobs.wait(agent, id, { timeoutMs, signal, until })
      // Output that a cancelled call has taken would be lost.
      signal.throwIfAborted()
      const { row, output } = jobs.read(agent, id)
      return { ...rowValue(row), output: outputValue(output) }
    },
    presentCall: ({ job_id: id }) => ({ card: 'terminal', title: id, description: 'Read a background job' }),
    presentResult: (_args, result) => presentOutput(result),
  })
}

export function jobListTool(jobs: JobService): ToolDefinition {
  return defineTool({
    name: 'job_list',
    description: 'Lists your background jobs, oldest first: id, kind, status and label.',
    parameters: {},
    output: {
      schema: LIST_VALUE,
      render: (_args, value) => [{ type: 'text', text: renderList(value) }],
    },
    isConcurrencySafe: () => true,
    execute: (_args, { agent }) => ({ jobs: jobs.list(agent).map(rowValue) }),
    presentCall: () => ({ card: 'generic', title: 'List background jobs', kind: 'other' }),
  })
}

export function jobKillTool(jobs: JobService): ToolDefinition {
  return defineTool({
    name: 'job_kill',
    description:
      'Asks a background job to stop, with everything it started, and returns at once. You get no message about its end then.',
    parameters: KILL_PARAMETERS,
    output: {
      schema: KILL_VALUE,
      render: (_args, value) => [{ type: 'text', text: renderKill(value) }],
    },
    execute({ job_id: id, reason }, { agent }) {
      const stopped = jobs.kill(agent, id, reason)
      // The oldest ended job may be forgotten at any time, never one that was just looked up.
      const row = jobs.get(agent, id)
      if (row === undefined) throw new Error(`job "${id}" is gone`)
      return { ...rowValue(row), stopped }
    },
    presentCall: ({ job_id: id }) => ({ card: 'generic', title: `Kill ${id}`, kind: 'execute' }),
  })
}

/** A copy that may be frozen, without the read-only types that values are not declared with. */
function rowValue(row: JobRow) {
  const { survivors, ...rest } = row
  return { ...rest, ...(survivors === undefined ? {} : { survivors: survivors.map((each) => ({ ...each })) }) }
}

function outputValue({ text, lossy, files = [] }: JobOutput) {
  return { text, lossy, files: [...files] }
}
