// What the bash tool takes and what it returns: the canonical value, independent facts only.
import type { InferArgs, InferValue, ParameterSchemaSpec, ValueSchemaSpec } from '@deepseek-ai/dsh-tools'

export const PARAMETERS = {
  command: {
    type: 'string',
    description: 'The command line, as bash reads it. May span several lines.',
    required: true,
    minLength: 1,
    pattern: '\\S',
  },
  description: {
    type: 'string',
    description: 'What the command does, in active voice and 5 to 10 words. Shown in the UI.',
    required: true,
    minLength: 1,
    pattern: '\\S',
  },
  timeoutMs: {
    type: 'number',
    description:
      'Limit in milliseconds, after which the command and everything it started is ended. Capped by the host.',
    minimum: 1,
  },
  workdir: {
    type: 'string',
    description: "Folder to run in: absolute, or relative to the session's folder, which is the default.",
    minLength: 1,
  },
} as const satisfies ParameterSchemaSpec

const STREAM = {
  type: 'object',
  properties: {
    text: { type: 'string', required: true },
    truncated: { type: 'boolean', required: true },
    totalBytes: { type: 'integer', required: true, minimum: 0 },
  },
  additionalProperties: false,
} as const satisfies ValueSchemaSpec

const SURVIVOR = {
  type: 'object',
  properties: { pid: { type: 'integer', required: true }, command: { type: 'string', required: true } },
  additionalProperties: false,
} as const satisfies ValueSchemaSpec

const KILL = {
  type: 'object',
  description: 'Present whenever something was killed or left running.',
  properties: {
    signal: {
      oneOf: [{ type: 'string', enum: ['SIGTERM', 'SIGKILL'] }, { type: 'null' }],
      description: 'The strongest signal sent; null when nothing was signalled.',
      required: true,
    },
    ended: { type: 'integer', required: true, minimum: 0 },
    survivors: { type: 'array', items: SURVIVOR, required: true },
  },
  additionalProperties: false,
} as const satisfies ValueSchemaSpec

export const OUTPUT = {
  type: 'object',
  properties: {
    kind: { type: 'string', const: 'foreground', required: true },
    exitCode: { oneOf: [{ type: 'integer' }, { type: 'null' }], required: true },
    signal: { oneOf: [{ type: 'string' }, { type: 'null' }], required: true },
    timedOut: { type: 'boolean', required: true },
    aborted: { type: 'boolean', required: true },
    timeoutMs: { type: 'number', description: 'The limit that was in force.', required: true },
    durationMs: { type: 'number', required: true },
    stdout: { ...STREAM, required: true },
    stderr: { ...STREAM, required: true },
    workdir: { type: 'string', description: 'The folder the command ran in.', required: true },
    missingWorkdir: { type: 'string', description: "The session's folder, when it was gone and a parent stood in." },
    kill: KILL,
  },
  additionalProperties: false,
} as const satisfies ValueSchemaSpec

export type BashArgs = InferArgs<typeof PARAMETERS>
export type BashValue = InferValue<typeof OUTPUT>
