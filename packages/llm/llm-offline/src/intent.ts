// What a message asks for, and how the values a person wrote become typed arguments. Reads no text itself.
import type { Json, JsonSchema, ToolSchema } from '@deepseek-ai/dsh-tools'

/** Calls to make, or a problem to tell instead. Never both: half of what was asked helps nobody. */
export interface Intent {
  readonly calls: readonly { readonly name: string; readonly arguments: string }[]
  readonly problem?: string
}

/** A value as written; quoted ones are text even where a number would do. */
export interface Written {
  readonly text: string
  readonly quoted: boolean
}

/** The arguments as JSON text, or what is wrong with them. */
export type Arguments = { readonly json: string } | { readonly problem: string }

export function propertiesOf(tool: ToolSchema): ReadonlyMap<string, JsonSchema> {
  return new Map(Object.entries(tool.parameters.properties ?? {}))
}

/** The property that a bare text is for: the only required string (beside a `description` of a command), or the only string. */
export function primaryProperty(tool: ToolSchema): string | undefined {
  const properties = propertiesOf(tool)
  const isText = (name: string): boolean => properties.get(name)?.type === 'string'
  const required = (tool.parameters.required ?? []).filter((name) => !isCommandDescription(tool, name))
  if (required.length === 1 && required[0] !== undefined && isText(required[0])) return required[0]
  const all = [...properties.keys()]
  return required.length === 0 && all.length === 1 && all[0] !== undefined && isText(all[0]) ? all[0] : undefined
}

export function takesCommand(tool: ToolSchema): boolean {
  return propertiesOf(tool).get('command')?.type === 'string'
}

function isCommandDescription(tool: ToolSchema, name: string): boolean {
  return name === 'description' && takesCommand(tool)
}

/** Types the written values by the schema; `about` describes the call where a tool wants a description of its command. */
export function typedArguments(tool: ToolSchema, written: ReadonlyMap<string, Written>, about: string): Arguments {
  const properties = propertiesOf(tool)
  const required = tool.parameters.required ?? []
  const values = new Map<string, Json>()
  for (const [name, value] of written) {
    const typed = typedValue(value, properties.get(name))
    if ('problem' in typed) return { problem: `"${name}" of the ${tool.name} tool ${typed.problem}. ${form(tool)}` }
    values.set(name, typed.value)
  }
  if (required.includes('description') && takesCommand(tool) && values.has('command') && !values.has('description')) {
    values.set('description', oneLine(about))
  }
  const missing = required.filter((name) => !values.has(name))
  if (missing.length === 0) return { json: JSON.stringify(Object.fromEntries(values)) }
  const list = missing.map((name) => `"${name}" (${typeName(properties.get(name))})`).join(' and ')
  return { problem: `I could not find ${list} for the ${tool.name} tool in your message. ${form(tool)}` }
}

type TypedValue = { value: Json } | { problem: string }

function typedValue(written: Written, schema: JsonSchema | undefined): TypedValue {
  const { text, quoted } = written
  switch (schema?.type) {
    case 'string':
      return { value: text }
    case 'number':
    case 'integer': {
      const value = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : Number.NaN
      if (!Number.isFinite(value)) return { problem: `must be a number, got ${JSON.stringify(text)}` }
      if (schema.type === 'integer' && !Number.isInteger(value))
        return { problem: `must be a whole number, got ${text}` }
      return { value: value === 0 ? 0 : value } // -0 is not JSON
    }
    case 'boolean':
      if (text === 'true' || text === 'false') return { value: text === 'true' }
      return { problem: `must be true or false, got ${JSON.stringify(text)}` }
    case 'null':
      return text === 'null' ? { value: null } : { problem: `must be null, got ${JSON.stringify(text)}` }
    case 'array':
      return arrayValue(text, schema)
    case 'object': {
      const parsed = parseJson(text)
      if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return { value: parsed }
      return { problem: `must be a JSON object, got ${JSON.stringify(text)}` }
    }
    default: {
      const parsed = quoted ? undefined : parseJson(text)
      return { value: parsed ?? (text === 'null' && !quoted ? null : text) }
    }
  }
}

/** A JSON array, or items separated by commas. */
function arrayValue(text: string, schema: JsonSchema): TypedValue {
  const parsed = parseJson(text)
  if (Array.isArray(parsed)) return { value: parsed }
  const items: Json[] = []
  for (const part of text === '' ? [] : text.split(',')) {
    const item = typedValue({ text: part.trim(), quoted: false }, schema.items)
    if ('problem' in item) return { problem: `has an item that ${item.problem}` }
    items.push(item.value)
  }
  return { value: items }
}

function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined // not JSON is an answer here
  }
}

/** `Try: /greet name="…"` */
export function form(tool: ToolSchema): string {
  return `Try: \`${example(tool)}\``
}

export function example(tool: ToolSchema): string {
  const properties = propertiesOf(tool)
  const names = (tool.parameters.required ?? []).filter((name) => !isCommandDescription(tool, name))
  return [`/${tool.name}`, ...names.map((name) => `${name}=${placeholder(properties.get(name))}`)].join(' ')
}

function placeholder(schema: JsonSchema | undefined): string {
  const known = schema?.const ?? schema?.enum?.[0] ?? schema?.examples?.[0]
  if (known !== undefined) return typeof known === 'string' ? JSON.stringify(known) : `'${JSON.stringify(known)}'`
  switch (schema?.type) {
    case 'number':
    case 'integer':
      return String(Math.max(1, schema.minimum ?? 1))
    case 'boolean':
      return 'true'
    case 'null':
      return 'null'
    case 'array':
      return '[]'
    case 'object':
      return '{}'
    default:
      return '"…"'
  }
}

function typeName(schema: JsonSchema | undefined): string {
  return schema?.type ?? 'value'
}

export function oneLine(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  const characters = Array.from(line)
  return characters.length > 80 ? `${characters.slice(0, 79).join('')}…` : line
}
