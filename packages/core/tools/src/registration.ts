// What the registry refuses to take, and why. Author errors all end here.
import { assertSupportedJsonSchema } from './schema/compile.ts'
import type { ToolDefinition, ToolRestriction } from './types.ts'

/** The one tool that the registry itself brings; its name is reserved in every mode, since any agent may choose one. */
export const RUN_CODE = 'run_code'

/** Throws for a definition that cannot be registered anywhere. */
export function assertRegistrable(definition: ToolDefinition): void {
  const { name, output, timeoutMs, maxResultBytes } = definition
  const presentationMeta = (output as { presentationMeta?: unknown } | undefined)?.presentationMeta
  if (
    typeof output !== 'object' ||
    output === null ||
    typeof output.render !== 'function' ||
    (presentationMeta !== undefined && typeof presentationMeta !== 'function')
  ) {
    throw new TypeError(`tool "${name}" must declare output { schema, render, presentationMeta? }`)
  }
  assertSupportedJsonSchema(output.schema)
  if (timeoutMs !== undefined && (!Number.isFinite(timeoutMs) || timeoutMs <= 0)) {
    throw new TypeError(`tool "${name}" timeoutMs must be a positive finite number`)
  }
  if (name === RUN_CODE) {
    throw new Error(
      `tool name "${RUN_CODE}" is reserved for the Code Mode presentation transport and cannot be registered or shadowed`,
    )
  }
  if (typeof name !== 'string' || name === '') {
    throw new TypeError(`a tool needs a non-empty string as name (got ${JSON.stringify(name) ?? typeof name})`)
  }
  if (typeof definition.execute !== 'function') {
    throw new TypeError(`tool "${name}" needs an execute function (got ${typeof definition.execute})`)
  }
  const isBound = maxResultBytes === undefined || typeof maxResultBytes === 'function' || maxResultBytes > 0
  if (!isBound) {
    throw new TypeError(
      `tool "${name}" maxResultBytes must be a positive number or a function (got ${String(maxResultBytes)})`,
    )
  }
}

/** Throws for a restriction that would do nothing, or not what it says. `inherited` are the names it may list. */
export function assertRestriction(filter: ToolRestriction, inherited: readonly string[]): void {
  const { allow, deny } = filter
  for (const [field, names] of Object.entries({ allow, deny })) {
    if (names !== undefined && !(Array.isArray(names) && names.every((name) => typeof name === 'string'))) {
      throw new TypeError(`tools.restrict() needs a list of tool names as ${field}`)
    }
  }
  if (allow === undefined && (deny === undefined || deny.length === 0)) {
    throw new Error('tools.restrict({}) is a no-op: name what to keep (`allow`) or what to remove (`deny`)')
  }
  const names = [...(allow ?? []), ...(deny ?? [])]
  if (names.includes(RUN_CODE)) {
    throw new Error(
      `tools.restrict() cannot name reserved Code Mode presentation transport "${RUN_CODE}"; use tools.presentAs() to choose how tools are shown`,
    )
  }
  const unknown = names.filter((name) => !inherited.includes(name))
  if (unknown.length === 0) return
  const quoted = [...new Set(unknown)].map((name) => `"${name}"`).join(', ')
  throw new Error(
    `tools.restrict() names unknown global tool(s) ${quoted}; known global tools: ${inherited.toSorted().join(', ') || 'none'}`,
  )
}
