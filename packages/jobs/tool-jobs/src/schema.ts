// What the job tools take and return: rows of facts, and the output of one job.
import type { InferValue, ParameterSchemaSpec, ValueSchemaSpec } from '@deepseek-ai/dsh-tools'

export const JOB_ID = {
  type: 'string',
  required: true,
  minLength: 1,
  description: 'Id of the job, e.g. bash-1, as the call that started it or job_list gives it.',
} as const

export const KILL_PARAMETERS = {
  job_id: JOB_ID,
  reason: { type: 'string', description: 'Why, for the log of the job. Optional.' },
} as const satisfies ParameterSchemaSpec

const flag = { type: 'boolean', required: true } as const

const ROW = {
  id: { type: 'string', required: true },
  kind: { type: 'string', required: true },
  label: { type: 'string', required: true },
  status: { type: 'string', enum: ['running', 'stopping', 'completed', 'failed', 'killed'], required: true },
  detail: { type: 'string', description: 'How it ended, e.g. `exit code: 0`.' },
  startedAt: { type: 'integer', required: true, description: 'Milliseconds since the epoch.' },
  endedAt: { type: 'integer' },
  facts: {
    type: 'object',
    required: true,
    properties: { ended: flag, treeQuiet: flag, outputRead: flag, reported: flag, acknowledged: flag },
    additionalProperties: false,
  },
  survivors: {
    type: 'array',
    description: 'Processes that went on after its end and still do.',
    items: {
      type: 'object',
      properties: { pid: { type: 'integer', required: true }, command: { type: 'string', required: true } },
      additionalProperties: false,
    },
  },
  callId: { type: 'string' },
} as const

const OUTPUT_PIECE = {
  type: 'object',
  required: true,
  description: 'What was printed since the last read.',
  properties: {
    text: { type: 'string', required: true },
    lossy: { ...flag, description: 'Some output was dropped from memory before it was read.' },
    files: { type: 'array', items: { type: 'string' }, required: true, description: 'Files with the whole output.' },
  },
  additionalProperties: false,
} as const

export const OUTPUT_VALUE = {
  type: 'object',
  properties: { ...ROW, output: OUTPUT_PIECE },
  additionalProperties: false,
} as const satisfies ValueSchemaSpec

export const LIST_VALUE = {
  type: 'object',
  properties: {
    jobs: { type: 'array', required: true, items: { type: 'object', properties: ROW, additionalProperties: false } },
  },
  additionalProperties: false,
} as const satisfies ValueSchemaSpec

export const KILL_VALUE = {
  type: 'object',
  properties: { ...ROW, stopped: { ...flag, description: 'False when the job had ended before.' } },
  additionalProperties: false,
} as const satisfies ValueSchemaSpec

export type OutputValue = InferValue<typeof OUTPUT_VALUE>
export type ListValue = InferValue<typeof LIST_VALUE>
export type KillValue = InferValue<typeof KILL_VALUE>
