// What `grep` takes and what it returns.
import type { InferArgs, InferValue, ParameterSchemaSpec, ValueSchemaSpec } from '@deepseek-ai/dsh-tools'
import { COMPLETENESS } from './completeness.ts'
import { MAX_LIMIT } from './config.ts'

const MAX_CONTEXT = 50
const MAX_OFFSET = 100_000_000

export const PATH_PARAMETER = {
  type: 'string',
  description: "Folder or file to search: absolute, or relative to the session's folder, which is the default.",
  minLength: 1,
} as const
export const INCLUDE_IGNORED_PARAMETER = {
  type: 'boolean',
  description: 'Also look at hidden files and at what .gitignore and other ignore files exclude. Default false.',
} as const
export const OFFSET_PARAMETER = {
  type: 'integer',
  description: 'Results to leave out first: the "next page" of an earlier call with the same arguments. Default 0.',
  minimum: 0,
  maximum: MAX_OFFSET,
} as const

export const GREP_PARAMETERS = {
  pattern: {
    type: 'string',
    description:
      'Regular expression in Rust syntax, matched line by line; look-around and back-references work too. With literal: plain text.',
    required: true,
    minLength: 1,
  },
  path: PATH_PARAMETER,
  glob: {
    oneOf: [
      { type: 'string', minLength: 1 },
      { type: 'array', items: { type: 'string', minLength: 1 }, maxItems: 50 },
    ],
    description:
      'Only files that match, e.g. "*.ts" (a name at any depth), "src/**/*.{ts,tsx}" (from the folder that is searched). "!" in front excludes. A list: any of them, and none of the excluded.',
  },
  type: { type: 'string', description: 'Only files of a type that ripgrep knows, e.g. ts, py, rust.', minLength: 1 },
  mode: {
    type: 'string',
    enum: ['matches', 'files', 'count'],
    description:
      'matches (default): the lines. files: only the paths of files with a match. count: lines that match, per file, binary files included; exact however many.',
  },
  literal: { type: 'boolean', description: 'The pattern is plain text, not a regular expression. Default false.' },
  ignore_case: { type: 'boolean', description: 'Upper and lower case are the same. Default false.' },
  multiline: { type: 'boolean', description: 'A match may span lines, and "." matches line breaks. Default false.' },
  context: {
    type: 'integer',
    description: 'Lines to show before and after each match.',
    minimum: 0,
    maximum: MAX_CONTEXT,
  },
  before: { type: 'integer', description: 'Lines to show before each match.', minimum: 0, maximum: MAX_CONTEXT },
  after: { type: 'integer', description: 'Lines to show after each match.', minimum: 0, maximum: MAX_CONTEXT },
  include_ignored: INCLUDE_IGNORED_PARAMETER,
  limit: {
    type: 'integer',
    description: 'Matches, or files, in one page. Default 250, or what the host has set.',
    minimum: 1,
    maximum: MAX_LIMIT,
  },
  offset: OFFSET_PARAMETER,
} as const satisfies ParameterSchemaSpec

export type GrepArgs = InferArgs<typeof GREP_PARAMETERS>

const LINE = {
  type: 'object',
  properties: {
    line: { type: 'integer', description: '1-based.', required: true, minimum: 1 },
    text: {
      type: 'string',
      description: 'Without the line ending. A long line is cut around its first match, which is marked in it.',
      required: true,
    },
    ranges: {
      type: 'array',
      description: 'Start and end of each match in "text", in UTF-16 units.',
      items: { type: 'array', items: { type: 'integer', minimum: 0 }, minItems: 2, maxItems: 2 },
    },
    context: { type: 'boolean', const: true, description: 'A line around a match.' },
  },
  additionalProperties: false,
} as const satisfies ValueSchemaSpec

export const GREP_OUTPUT = {
  type: 'object',
  properties: {
    mode: { type: 'string', enum: ['matches', 'files', 'count'], required: true },
    path: { type: 'string', description: 'What was searched.', required: true },
    files: {
      type: 'array',
      description: 'In path order: by bytes, name by name.',
      items: {
        type: 'object',
        properties: {
          path: { type: 'string', required: true },
          matches: { type: 'array', items: LINE },
          count: { type: 'integer', minimum: 1 },
        },
        additionalProperties: false,
      },
      required: true,
    },
    total: {
      type: 'integer',
      description:
        'Lines that match; of mode "files" the files. At least so many where completeness says that it is not exact.',
      required: true,
      minimum: 0,
    },
    completeness: { ...COMPLETENESS, required: true },
  },
  additionalProperties: false,
} as const satisfies ValueSchemaSpec

export type GrepValue = InferValue<typeof GREP_OUTPUT>
export type GrepFile = GrepValue['files'][number]
export type GrepLine = NonNullable<GrepFile['matches']>[number]
