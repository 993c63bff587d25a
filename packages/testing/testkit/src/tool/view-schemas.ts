// The shape of each card's view, as a client may rely on it. The types make this file follow the vocabulary of dsh-tools.
import {
  compileValueSchema,
  validatorFor,
  type JsonSchema,
  type ObjectSpec,
  type PropertySpec,
  type ToolCallView,
  type ToolResultView,
} from '@deepseek-ai/dsh-tools'

type Fields = Readonly<Record<string, PropertySpec>>

const CONTENT: PropertySpec = {
  type: 'array',
  items: {
    type: 'object',
    properties: { type: { type: 'string', const: 'text', required: true }, text: { type: 'string', required: true } },
    additionalProperties: false,
  },
}

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

const CALL_VIEWS: Readonly<Record<ToolCallView['card'], Fields>> = {
  generic: { title: TITLE, kind: KIND, rawInput: { type: 'json' }, content: CONTENT, locations: LOCATIONS },
  terminal: { title: TITLE, description: TEXT, cwd: TEXT },
}

const RESULT_VIEWS: Readonly<Record<ToolResultView['card'], Fields>> = {
  generic: { title: TEXT, content: CONTENT },
  terminal: {
    title: TEXT,
    output: TEXT,
    exitCode: { type: 'number' },
    signal: TEXT,
    notes: { type: 'array', items: { type: 'string' } },
    remarks: { type: 'array', items: { type: 'string' } },
  },
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
