// What the terminal tools take and what they return.
import type { InferValue, ParameterSchemaSpec, ValueSchemaSpec } from '@deepseek-ai/dsh-tools'

const TERMINAL = {
  type: 'string',
  description: 'Id or name of an open terminal.',
  required: true,
  minLength: 1,
} as const

/** Rows and columns of a terminal. */
const SIZE = { type: 'integer', minimum: 2, maximum: 1000 } as const

export const OPEN = {
  name: { type: 'string', description: 'A name to call it by, e.g. "server".', minLength: 1, maxLength: 64 },
  type: { type: 'string', description: 'Kind of terminal; the default is "shell".', minLength: 1 },
  command: {
    type: 'string',
    description: 'A command line to run in it; the terminal ends with it. Omitted: a shell that asks for commands.',
    minLength: 1,
  },
  env: {
    type: 'array',
    items: { type: 'string', pattern: '^[^=]+=' },
    description: 'Environment variables to add, each as NAME=value.',
    maxItems: 100,
  },
  cols: { ...SIZE, description: 'Columns of its screen. Default 160.' },
  rows: { ...SIZE, description: 'Lines of its screen. Default 40.' },
  cwd: { type: 'string', description: "Folder it starts in: absolute, or relative to the session's.", minLength: 1 },
} as const satisfies ParameterSchemaSpec

export const SEND = {
  terminal: TERMINAL,
  text: {
    type: 'string',
    description: 'What to type. Empty: type nothing, only wait for more output.',
    required: true,
  },
  submit: {
    type: 'boolean',
    description: 'Press Enter after it. Default true; with an empty text nothing is pressed.',
  },
  timeoutMs: {
    type: 'number',
    description: 'How long to wait for the program to finish or to ask, in milliseconds. It goes on afterwards.',
    minimum: 1,
  },
} as const satisfies ParameterSchemaSpec

export const READ = {
  terminal: TERMINAL,
  offset: { type: 'integer', description: 'Lines to leave out at the end. Default 0.', minimum: 0 },
  count: { type: 'integer', description: 'Lines to read, the newest ones. Default 500.', minimum: 1, maximum: 10_000 },
} as const satisfies ParameterSchemaSpec

export const SIGNAL = {
  terminal: TERMINAL,
  signal: {
    type: 'string',
    enum: ['SIGINT', 'SIGTERM', 'SIGKILL', 'SIGTSTP', 'SIGHUP'],
    description: 'Goes to the program in front. SIGINT is Ctrl+C.',
    required: true,
  },
} as const satisfies ParameterSchemaSpec

export const CLOSE = { terminal: TERMINAL } as const satisfies ParameterSchemaSpec

const STATUS = {
  oneOf: [
    {
      type: 'object',
      properties: { kind: { type: 'string', const: 'running', required: true } },
      additionalProperties: false,
    },
    {
      type: 'object',
      properties: {
        kind: { type: 'string', const: 'exited', required: true },
        exitCode: { oneOf: [{ type: 'integer' }, { type: 'null' }], required: true },
        signal: { oneOf: [{ type: 'string' }, { type: 'null' }], required: true },
      },
      additionalProperties: false,
    },
  ],
} as const satisfies ValueSchemaSpec

export const TERMINAL_ROW = {
  type: 'object',
  properties: {
    id: { type: 'string', required: true },
    name: { type: 'string' },
    type: { type: 'string', required: true },
    cwd: { type: 'string', required: true },
    pid: { type: 'integer', required: true },
    status: { ...STATUS, required: true },
  },
  additionalProperties: false,
} as const satisfies ValueSchemaSpec

export const OPENED = {
  type: 'object',
  properties: {
    terminal: { ...TERMINAL_ROW, required: true },
    text: { type: 'string', description: 'What it printed by the time it was ready.', required: true },
  },
  additionalProperties: false,
} as const satisfies ValueSchemaSpec

export const SENT = {
  type: 'object',
  properties: {
    text: { type: 'string', description: 'What was printed since, as plain text.', required: true },
    truncated: { type: 'boolean', required: true },
    reason: {
      type: 'string',
      enum: ['stdin-wait', 'idle', 'timeout', 'exited', 'aborted'],
      description: 'Why the wait ended. Only exited proves that anything ended.',
      required: true,
    },
    status: { ...STATUS, required: true },
    prompt: {
      type: 'object',
      description: 'The program waits for an answer.',
      properties: { text: { type: 'string', required: true }, hidden: { type: 'boolean', required: true } },
      additionalProperties: false,
    },
    untyped: {
      type: 'string',
      description: 'Lines that were not typed: the program did not take the one before, or asks for something hidden.',
    },
    answeredByUser: {
      type: 'integer',
      description: 'Prompts that the user answered meanwhile; what they typed is not told.',
      minimum: 1,
    },
  },
  additionalProperties: false,
} as const satisfies ValueSchemaSpec

export const LINES = {
  type: 'object',
  properties: {
    text: { type: 'string', required: true },
    totalLines: { type: 'integer', required: true },
    lineBegin: { type: 'integer', required: true },
    lineEnd: { type: 'integer', required: true },
    truncated: { type: 'boolean', description: 'Older lines were dropped.', required: true },
  },
  additionalProperties: false,
} as const satisfies ValueSchemaSpec

export const CLOSED = {
  type: 'object',
  properties: {
    terminal: { type: 'string', required: true },
    kill: {
      type: 'object',
      properties: {
        signal: {
          oneOf: [{ type: 'string' }, { type: 'null' }],
          description: 'The strongest that was needed; null when nothing was left to end.',
          required: true,
        },
        ended: { type: 'integer', description: 'Processes that ended by it.', required: true },
        survivors: {
          type: 'array',
          description: 'Processes that could not be ended.',
          items: {
            type: 'object',
            properties: { pid: { type: 'integer', required: true }, command: { type: 'string', required: true } },
            additionalProperties: false,
          },
          required: true,
        },
      },
      additionalProperties: false,
      required: true,
    },
  },
  additionalProperties: false,
} as const satisfies ValueSchemaSpec

export type SentValue = InferValue<typeof SENT>
export type ClosedValue = InferValue<typeof CLOSED>
export type RowValue = InferValue<typeof TERMINAL_ROW>
export type StatusValue = InferValue<typeof STATUS>
