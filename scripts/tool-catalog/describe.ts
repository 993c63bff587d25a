// What the catalogue says of one definition, found by asking the definition itself. Boots nothing.
import type { Json, JsonSchema, ToolDefinition, ToolSchema } from '@deepseek-ai/dsh-tools'
import { samples } from './sample.ts'

export interface ToolFacts extends ToolSchema {
  readonly output: JsonSchema
  /** What a model is told of the tool, counted as `tokensOf` does. */
  readonly tokens: number
  readonly timeoutMs: number | null
  /** `depends`: a function of the arguments says. */
  readonly maxResultBytes: number | 'depends' | null
  readonly concurrency: 'exclusive' | 'parallel' | 'depends'
  /** Cards that the presenters gave for made-up calls; `generic` is also what a host falls back to. */
  readonly views: { readonly call: readonly string[]; readonly result: readonly string[] }
}

/** A quarter of the UTF-8 bytes of the compact JSON: the same for every model, and never exact for any. */
export function tokensOf(told: unknown): number {
  const text = typeof told === 'string' ? told : JSON.stringify(told)
  return Math.ceil(Buffer.byteLength(text) / 4)
}

export function describeTool(definition: ToolDefinition, schema: ToolSchema): ToolFacts {
  const { timeoutMs, maxResultBytes, output } = definition
  return {
    ...schema,
    output: output.schema,
    tokens: tokensOf(schema),
    timeoutMs: timeoutMs ?? null,
    maxResultBytes: typeof maxResultBytes === 'function' ? 'depends' : (maxResultBytes ?? null),
    concurrency: concurrencyOf(definition),
    views: viewsOf(definition),
  }
}

function concurrencyOf(definition: ToolDefinition): ToolFacts['concurrency'] {
  if (definition.isConcurrencySafe === undefined) return 'exclusive'
  const answers = samples(definition.parameters).map((args) =>
    attempt(() => definition.isConcurrencySafe?.(args as never)),
  )
  if (answers.every((answer) => answer === true)) return 'parallel'
  return answers.includes(true) ? 'depends' : 'exclusive'
}

function viewsOf(definition: ToolDefinition): ToolFacts['views'] {
  const calls = samples(definition.parameters)
  const [args = {}] = calls
  const call = calls.map((each) => attempt(() => definition.presentCall?.(each as never))?.card)
  const result = samples(definition.output.schema).map((value) => resultCard(definition, args, value))
  return { call: cards(call), result: cards(result) }
}

function resultCard(definition: ToolDefinition, args: Json, value: Json): string | undefined {
  const { output } = definition
  return attempt(() => {
    const content = output.render(args as never, value as never)
    const meta = output.presentationMeta?.(args as never, value as never)
    const result = { content, isError: false, ...(meta === undefined ? {} : { meta }) }
    return definition.presentResult?.(args as never, result)?.card
  })
}

/** Made-up values may break what a schema cannot say; such an answer is left out. */
function attempt<T>(ask: () => T): T | undefined {
  try {
    return ask()
  } catch {
    return undefined
  }
}

function cards(found: readonly (string | undefined)[]): string[] {
  const known = [...new Set(found.filter((card) => card !== undefined))].sort()
  return known.length === 0 ? ['generic'] : known
}
