// What `glob` takes and what it returns.
import type { InferArgs, InferValue, ParameterSchemaSpec, ValueSchemaSpec } from '@deepseek-ai/dsh-tools'
import { COMPLETENESS } from './completeness.ts'
import { MAX_LIMIT } from './config.ts'
import { INCLUDE_IGNORED_PARAMETER, OFFSET_PARAMETER } from './grep-schema.ts'

export const GLOB_PARAMETERS = {
  pattern: {
    type: 'string',
    description:
      'What paths match: "*.ts" (a name at any depth), "src/**/*.{ts,tsx}" (from the folder that is searched), "/abs/folder/**/*.md". "*" and "?" stay within a name, "**" spans folders, [a-z], [!a], {a,b}; a backslash takes a special character as it is.',
    required: true,
    minLength: 1,
  },
  path: {
    type: 'string',
    description: "Folder to look in: absolute, or relative to the session's folder, which is the default.",
    minLength: 1,
  },
  exclude: {
    type: 'array',
    description: 'Patterns of files and folders to leave out.',
    items: { type: 'string', minLength: 1 },
    maxItems: 50,
  },
  order: {
    type: 'string',
    enum: ['path', 'newest'],
    description: 'path (default): by name. newest: most recently changed first.',
  },
  include_ignored: INCLUDE_IGNORED_PARAMETER,
  limit: {
    type: 'integer',
    description: 'Paths in one page. Default 100, or what the host has set.',
    minimum: 1,
    maximum: MAX_LIMIT,
  },
  offset: OFFSET_PARAMETER,
} as const satisfies ParameterSchemaSpec

export type GlobArgs = InferArgs<typeof GLOB_PARAMETERS>

export const GLOB_OUTPUT = {
  type: 'object',
  properties: {
    path: { type: 'string', description: 'The folder that was looked in.', required: true },
    order: { type: 'string', enum: ['path', 'newest'], required: true },
    paths: { type: 'array', items: { type: 'string' }, description: 'Files only.', required: true },
    total: { type: 'integer', required: true, minimum: 0 },
    folders: {
      type: 'array',
      description:
        'Where the files are, when not all are shown: files by folder of the first level, the fullest first.',
      items: {
        type: 'object',
        properties: {
          path: { type: 'string', required: true },
          count: { type: 'integer', required: true, minimum: 1 },
        },
        additionalProperties: false,
      },
    },
    completeness: { ...COMPLETENESS, required: true },
  },
  additionalProperties: false,
} as const satisfies ValueSchemaSpec

export type GlobValue = InferValue<typeof GLOB_OUTPUT>
