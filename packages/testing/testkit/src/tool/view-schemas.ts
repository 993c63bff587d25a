// The shape of each card's view, as a client may rely on it. The types make this file follow the vocabulary of dsh-tools.
import {
  IMAGE_TYPES,
  compileValueSchema,
  validatorFor,
  type JsonSchema,
  type ObjectSpec,
  type PropertySpec,
  type ToolCallView,
  type ToolResultView,
} from '@deepseek-ai/dsh-tools'

type Fields = Readonly<Record<string, PropertySpec>>

/** Content blocks, as a tool renders them and a card may hold them. */
export const CONTENT = {
  type: 'array',
  items: {
    oneOf: [
      {
        type: 'object',
        properties: {
          type: { type: 'string', const: 'text', required: true },
          text: { type: 'string', required: true },
        },
        additionalProperties: false,
      },
      {
        type: 'object',
        properties: {
          type: { type: 'string', const: 'image', required: true },
          mediaType: { type: 'string', enum: [...IMAGE_TYPES], required: true },
          data: { type: 'string', required: true },
        },
        additionalProperties: false,
      },
    ],
  },
} as const satisfies PropertySpec

const LOCATIONS: PropertySpec = {
  type: 'array',
  items: {
    type: 'object',
    properties: { path: { type: 'string', required: true, minLength: 1 }, line: { type: 'integer', minimum: 1 } },
    additionalProperties: false,
  },
}

const KIND: PropertySpec = {
  type: 'string',
  enum: ['read', 'edit', 'delete', 'move', 'search', 'execute', 'fetch', 'other'],
}

const TITLE: PropertySpec = { type: 'string', required: true }
const TEXT: PropertySpec = { type: 'string' }

const TEXTS: PropertySpec = { type: 'array', items: { type: 'string' } }

const DIFFS: PropertySpec = {
  type: 'array',
  required: true,
  items: {
    type: 'object',
    properties: {
      path: TITLE,
      oldText: { oneOf: [{ type: 'string' }, { type: 'null' }], required: true },
      newText: TITLE,
      oldStart: { type: 'integer', minimum: 0 },
      newStart: { type: 'integer', minimum: 0 },
    },
    additionalProperties: false,
  },
}

const MATCH: PropertySpec = {
  type: 'object',
  properties: {
    lineNumber: { type: 'integer', required: true, minimum: 1 },
    line: TITLE,
    ranges: { type: 'array', items: { type: 'array', items: { type: 'integer' }, minItems: 2, maxItems: 2 } },
    context: { type: 'boolean', const: true },
  },
  additionalProperties: false,
}

const FOUND: Fields = {
  title: TEXT,
  truncated: { type: 'boolean', required: true },
  total: { type: 'integer', required: true, minimum: 0 },
  shape: { type: 'string', enum: ['matches', 'paths'], required: true },
  files: {
    type: 'array',
    items: {
      type: 'object',
      properties: { path: TITLE, matches: { type: 'array', items: MATCH, required: true } },
      additionalProperties: false,
    },
  },
  paths: TEXTS,
  notes: TEXTS,
  remarks: TEXTS,
}

const CALL_VIEWS: Readonly<Record<ToolCallView['card'], Fields>> = {
  generic: { title: TITLE, kind: KIND, rawInput: { type: 'json' }, content: CONTENT, locations: LOCATIONS },
  terminal: { title: TITLE, description: TEXT, cwd: TEXT },
  diff: { title: TITLE, diffs: DIFFS, locations: LOCATIONS },
}

const RESULT_VIEWS: Readonly<Record<ToolResultView['card'], Fields>> = {
  generic: { title: TEXT, content: CONTENT },
  terminal: {
    title: TEXT,
    output: TEXT,
    exitCode: { type: 'number' },
    signal: TEXT,
    notes: TEXTS,
    remarks: TEXTS,
  },
  diff: { title: TEXT, diffs: DIFFS, notes: TEXTS, remarks: TEXTS },
  read: {
    title: TEXT,
    path: TITLE,
    offset: { type: 'integer', required: true, minimum: 1 },
    lines: {
      type: 'array',
      required: true,
      items: {
        type: 'object',
        properties: { number: { type: 'integer', required: true, minimum: 1 }, text: TITLE },
        additionalProperties: false,
      },
    },
    totalLines: { type: 'integer', required: true, minimum: 0 },
    lang: TEXT,
    notes: TEXTS,
    remarks: TEXTS,
  },
  search: FOUND,
}

export type ViewKind = 'call' | 'result'

const SCHEMAS: Readonly<Record<ViewKind, ReadonlyMap<string, JsonSchema>>> = {
  call: compiled(CALL_VIEWS),
  result: compiled(RESULT_VIEWS),
}

function compiled(views: Readonly<Record<string, Fields>>): ReadonlyMap<string, JsonSchema> {
  const schemas = Object.entries(views).map(([card, fields]): [string, JsonSchema] => {
    const properties = { card: { type: 'string', const: card, required: true }, ...fields } as const
    const spec: ObjectSpec = { type: 'object', properties, additionalProperties: false }
    return [card, compileValueSchema(spec)]
  })
  return new Map(schemas)
}

/** What is wrong with a view, one line each; an absent view is a fallback and right. */
export function viewViolations(kind: ViewKind, view: unknown): string[] {
  if (view === undefined) return []
  if (view instanceof Promise) return ['is a promise; presenters are synchronous']
  const card: unknown = Object(view).card
  const schema = typeof card === 'string' ? SCHEMAS[kind].get(card) : undefined
  if (schema === undefined) {
    return [
      `is no ${kind} view: card must be one of ${[...SCHEMAS[kind].keys()].join(', ')} (got ${JSON.stringify(card) ?? 'none'})`,
    ]
  }
  return validatorFor(schema).violations(withoutUndefined(view), 'view')
}

/** A property that is there and `undefined` does not travel; it means what an absent one means. */
function withoutUndefined(view: unknown): unknown {
  return Object.fromEntries(Object.entries(view as object).filter(([, value]) => value !== undefined))
}
