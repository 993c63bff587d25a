// What a shell tool takes and what it returns: the canonical value, independent facts only. Which parameters a model sees depends on what the host can do.
import { ESCALATION_PARAMETERS } from '@deepseek-ai/dsh-approval'
import type { InferArgs, InferValue, ParameterSchemaSpec, ValueSchemaSpec } from '@deepseek-ai/dsh-tools'
import type { ShellWording } from './wording.ts'

/** What a host offers beyond running a command. */
export interface Abilities {
  /** Commands may go on as background jobs. */
  readonly background: boolean
  /** Commands are confined, and a person can be asked to widen that. */
  readonly escalation: boolean
}

const ALWAYS = {
  command: {
    type: 'string',
    description: 'The command line. May span several lines.',
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

const BACKGROUND_PARAMETER = {
  run_in_background: {
    type: 'boolean',
    description: 'Return at once and let the command go on as a job without a limit. Read it with job_output.',
  },
} as const satisfies ParameterSchemaSpec

const EVERY_PARAMETER = { ...ALWAYS, ...BACKGROUND_PARAMETER, ...ESCALATION_PARAMETERS } as const

export type ShellArgs = InferArgs<typeof EVERY_PARAMETER>

/** The parameters that a model is told of. Typed as all of them: the optional ones simply never arrive. */
export function shellParameters(wording: ShellWording, abilities: Abilities): typeof EVERY_PARAMETER {
  return {
    ...ALWAYS,
    command: { ...ALWAYS.command, description: wording.command },
    ...(abilities.background ? BACKGROUND_PARAMETER : {}),
    ...(abilities.escalation ? ESCALATION_PARAMETERS : {}),
  } as typeof EVERY_PARAMETER
}

const STREAM = {
  type: 'object',
  properties: {
    text: { type: 'string', required: true },
    truncated: { type: 'boolean', required: true },
    totalBytes: { type: 'integer', required: true, minimum: 0 },
    spillPath: { type: 'string', description: 'File that holds the whole stream.' },
    spillIncomplete: { type: 'boolean', const: true, description: 'A quota or a full disk cut the file.' },
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

const SANDBOX = {
  type: 'object',
  description: 'Present when the command was confined.',
  properties: {
    mode: { type: 'string', enum: ['read-only', 'workspace-write', 'danger-full-access'], required: true },
    network: { type: 'string', enum: ['none', 'allowlist', 'open'], required: true },
    denied: {
      type: 'array',
      description: 'What the policy refused. Absent does not mean that nothing was.',
      items: {
        type: 'object',
        properties: {
          kind: { type: 'string', enum: ['read', 'write', 'network'], required: true },
          target: { type: 'string', required: true },
          rule: { type: 'string', required: true },
          confidence: { type: 'string', enum: ['confirmed', 'likely'], required: true },
        },
        additionalProperties: false,
      },
    },
    warnings: { type: 'array', items: { type: 'string' } },
  },
  additionalProperties: false,
} as const satisfies ValueSchemaSpec

const BACKGROUND = {
  type: 'object',
  properties: {
    kind: { type: 'string', const: 'background', required: true },
    jobId: { type: 'string', required: true },
    workdir: { type: 'string', description: 'The folder the command runs in.', required: true },
    promoted: {
      type: 'object',
      description: 'Present when the command began in the foreground.',
      properties: {
        by: { type: 'string', enum: ['person', 'timeout'], required: true },
        afterMs: { type: 'number', required: true },
        output: { type: 'string', description: 'What it had printed until then, its end.', required: true },
      },
      additionalProperties: false,
    },
  },
  additionalProperties: false,
} as const satisfies ValueSchemaSpec

const FOREGROUND = {
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
    sandbox: SANDBOX,
  },
  additionalProperties: false,
} as const satisfies ValueSchemaSpec

export const SHELL_OUTPUT = { oneOf: [BACKGROUND, FOREGROUND] } as const satisfies ValueSchemaSpec

export type BackgroundValue = InferValue<typeof BACKGROUND>
export type ForegroundValue = InferValue<typeof FOREGROUND>
export type ShellValue = BackgroundValue | ForegroundValue
