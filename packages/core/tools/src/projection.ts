// The model-facing side of a definition: its three fields under a name that providers accept, or the reason why it has none.
import { errorMessage } from '@deepseek-ai/cordis'
import { snapshotJson } from './json.ts'
import type { Json } from './presentation.ts'
import { isCompiled } from './schema/assert.ts'
import type { ToolDefinition, ToolSchema } from './types.ts'
import { wireName } from './wire-name.ts'

export type Projection =
  | { readonly schema: ToolSchema; readonly reason?: never }
  | { readonly schema?: never; /** Why models are not told of the tool. */ readonly reason: string }

const projections = new WeakMap<ToolDefinition, Projection>()

/** One projection a definition, made when it is first asked for: definitions do not change once registered. */
export function project(definition: ToolDefinition): Projection {
  let projection = projections.get(definition)
  if (projection === undefined) projections.set(definition, (projection = make(definition)))
  return projection
}

function make(definition: ToolDefinition): Projection {
  const { name, description } = definition
  let parameters: Json
  try {
    parameters = isCompiled(definition.parameters)
      ? (definition.parameters as unknown as Json)
      : snapshotJson(definition.parameters)
  } catch (error) {
    return {
      reason: `tool "${name}" parameters must be lossless JSON before schema projection: ${errorMessage(error)}`,
    }
  }
  const refused = refusedRoot(parameters)
  if (refused !== undefined) return { reason: `tool "${name}" parameters ${refused}` }
  if (typeof description !== 'string') {
    return { reason: `tool "${name}" description must be a string (got ${typeof description})` }
  }
  return { schema: Object.freeze({ name: wireName(name), description, parameters }) as ToolSchema }
}

/** Providers take an object root only; one tool with another fails the whole request. */
function refusedRoot(parameters: Json): string | undefined {
  if (typeof parameters !== 'object' || parameters === null || Array.isArray(parameters)) {
    return `must be a schema object (got ${parameters === null ? 'null' : Array.isArray(parameters) ? 'an array' : typeof parameters})`
  }
  const { type } = parameters as { type?: Json }
  if (type !== 'object') return `must have the root type "object" (got ${JSON.stringify(type) ?? 'none'})`
  const combinator = ['oneOf', 'anyOf', 'allOf', 'not', 'enum', '$ref'].find((key) => Object.hasOwn(parameters, key))
  return combinator === undefined ? undefined : `must not have ${combinator} at the root`
}

/** A mutable copy for a caller. */
export function copySchema({ name, description, parameters }: ToolSchema): ToolSchema {
  return { name, description, parameters: copyJson(parameters as unknown as Json) as ToolSchema['parameters'] }
}

function copyJson(value: Json): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(copyJson)
  const source = value as Readonly<Record<string, Json>>
  const copy: Record<string, unknown> = {}
  const keys = Object.keys(source)
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] as string
    const item = source[key] as Json
    const copied = typeof item === 'object' ? copyJson(item) : item
    if (key !== '__proto__') copy[key] = copied
    else Object.defineProperty(copy, key, { value: copied, enumerable: true, writable: true, configurable: true })
  }
  return copy
}
