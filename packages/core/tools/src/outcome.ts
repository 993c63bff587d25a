// Makes results: canonical successes from what a body returned, failures from anything thrown. Pure but for the tool's own callbacks.
import { errorMessage, HarnessError } from '@deepseek-ai/cordis'
import { JsonValueError, ToolArgsError, ToolOutputError } from './errors.ts'
import { snapshotJson } from './json.ts'
import { IMAGE_TYPES, type ContentBlock, type ImageBlock, type ImageType, type Json } from './presentation.ts'
import { unknownArgumentHints } from './schema/hints.ts'
import { validatorFor, type Validator } from './schema/validate.ts'
import type { Call } from './execution.ts'
import type {
  ContextMessage,
  ToolDefinition,
  ToolExecutionResult,
  ToolFailure,
  ToolFailureCause,
  ToolFailureInfo,
  ToolSuccess,
} from './types.ts'

const MAX_CAUSES = 8

/** Checks a body's value against the tool's own declaration and renders it. Throws `ToolOutputError`. */
export function success(call: Call, definition: ToolDefinition, returned: unknown): ToolSuccess {
  const value = canonicalValue(definition, returned)
  const content = rendered(definition, call.arguments, value)
  const meta = call.parent === undefined ? projectedMeta(definition, call.arguments, value) : undefined
  const plain: ToolSuccess =
    meta === undefined ? { isError: false, value, content } : { isError: false, value, content, meta }
  const warnings = unknownArgumentHints(definition.parameters, call.arguments)
  return Object.freeze(warnings.length === 0 ? plain : warned(plain, warnings))
}

/** The advice ends what the model reads and stays on the result for a host that shows it apart. */
function warned(result: ToolSuccess, warnings: readonly string[]): ToolSuccess {
  const [block] = textContent(warnings.map((warning) => `[warning: ${warning}]`).join('\n'))
  const content = block === undefined ? result.content : Object.freeze([...result.content, block])
  return { ...result, content, warnings: Object.freeze([...warnings]) }
}

function canonicalValue(definition: ToolDefinition, returned: unknown): Json {
  const validator = validatorFor(definition.output.schema)
  return validator.snapshot(returned) ?? checkedValue(definition, validator, returned)
}

/** The long way, which says what is wrong. */
function checkedValue(definition: ToolDefinition, validator: Validator, returned: unknown): Json {
  let value: Json
  try {
    value = snapshotJson(returned)
  } catch (error) {
    const reason = error instanceof JsonValueError ? 'value is not lossless JSON' : 'value snapshot failed'
    throw new ToolOutputError(definition.name, [`${reason}: ${errorMessage(error)}`], { cause: error })
  }
  if (!validator.checkSnapshot(value)) throw new ToolOutputError(definition.name, validator.violations(value, 'value'))
  return value
}

function rendered(definition: ToolDefinition, args: Json, value: Json): readonly ContentBlock[] {
  let blocks: Json
  try {
    blocks = snapshotJson(definition.output.render(args as never, value as never))
  } catch (error) {
    throw new ToolOutputError(definition.name, [`output.render failed: ${errorMessage(error)}`], { cause: error })
  }
  const wrong = contentViolation(blocks)
  if (wrong !== undefined) throw new ToolOutputError(definition.name, [`output.render returned ${wrong}`])
  return blocks as unknown as readonly ContentBlock[]
}

function projectedMeta(definition: ToolDefinition, args: Json, value: Json): Json | undefined {
  if (definition.output.presentationMeta === undefined) return undefined
  let meta: unknown
  try {
    meta = definition.output.presentationMeta(args as never, value as never)
  } catch (error) {
    throw new ToolOutputError(definition.name, [`output.presentationMeta failed: ${errorMessage(error)}`], {
      cause: error,
    })
  }
  if (meta === undefined) return undefined
  try {
    return snapshotJson(meta)
  } catch (error) {
    const violation = `output.presentationMeta returned non-lossless JSON: ${errorMessage(error)}`
    throw new ToolOutputError(definition.name, [violation], { cause: error })
  }
}

/** What is wrong with a list of content blocks, or undefined. */
export function contentViolation(blocks: unknown): string | undefined {
  if (!Array.isArray(blocks)) return `${kindOf(blocks)} instead of an array of content blocks`
  for (let index = 0; index < blocks.length; index++) {
    const { type, text } = (blocks[index] ?? {}) as { type?: unknown; text?: unknown }
    if (type === 'image') {
      const wrong = imageViolation(blocks[index] as Partial<Record<keyof ImageBlock, unknown>>)
      if (wrong !== undefined) return `an image block ${wrong} at [${index}]`
      continue
    }
    if (type !== 'text') return `a block of unknown type ${JSON.stringify(type) ?? kindOf(type)} at [${index}]`
    if (typeof text !== 'string') return `a text block without text at [${index}]`
  }
  return undefined
}

function imageViolation({ mediaType, data }: Partial<Record<keyof ImageBlock, unknown>>): string | undefined {
  if (!IMAGE_TYPES.includes(mediaType as ImageType)) {
    return `of type ${JSON.stringify(mediaType) ?? kindOf(mediaType)} instead of ${IMAGE_TYPES.join(', ')}`
  }
  const isBase64 = typeof data === 'string' && data !== '' && data.length % 4 === 0 && BASE64.test(data)
  return isBase64 ? undefined : 'whose data is no base64 with padding'
}

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/

export interface FailureOptions {
  cause?: unknown
  name?: string
  violations?: readonly string[]
  content?: readonly ContentBlock[]
}

/** A failure with a code of the pipeline's own. */
export function failure(code: string, message: string, options: FailureOptions = {}): ToolFailure {
  const error: ToolFailureInfo = Object.freeze({
    message,
    code,
    name: options.name ?? 'HarnessError',
    ...(options.violations === undefined ? {} : { violations: Object.freeze([...options.violations]) }),
    ...(options.cause === undefined ? {} : { cause: causeOf(options.cause, 1) }),
  })
  return Object.freeze({ isError: true, error, content: options.content ?? textContent(`Error: ${message}`) })
}

/** A failure from whatever was thrown. Only a `HarnessError` keeps its code; anything else gets `fallbackCode` and is kept as the cause. */
export function thrownFailure(thrown: unknown, fallbackCode: string): ToolFailure {
  const message = errorMessage(thrown)
  if (!isHarnessError(thrown)) return failure(fallbackCode, message, { name: nameOf(thrown), cause: thrown })
  const violations =
    thrown instanceof ToolArgsError || thrown instanceof ToolOutputError ? { violations: thrown.violations } : {}
  const inner = nestedCause(thrown)
  const cause = inner === undefined ? {} : { cause: inner }
  return failure(codeOf(thrown) ?? fallbackCode, message, { name: nameOf(thrown), ...violations, ...cause })
}

export function textContent(text: string): readonly ContentBlock[] {
  return Object.freeze([Object.freeze({ type: 'text' as const, text })])
}

/** Puts policy's context messages on a result. */
export function withContexts(
  result: ToolExecutionResult,
  contexts: readonly ContextMessage[] | undefined,
): ToolExecutionResult {
  if (contexts === undefined || contexts.length === 0) return result
  const all = [...(result.additionalContexts ?? []), ...contexts]
  return Object.freeze({ ...result, additionalContexts: snapshotJson(all) as unknown as readonly ContextMessage[] })
}

function causeOf(thrown: unknown, depth: number): ToolFailureCause {
  const code = codeOf(thrown)
  const inner = depth < MAX_CAUSES ? nestedCause(thrown) : undefined
  return Object.freeze({
    name: nameOf(thrown),
    message: errorMessage(thrown),
    ...(code === undefined ? {} : { code }),
    ...(inner === undefined ? {} : { cause: causeOf(inner, depth + 1) }),
  })
}

function nestedCause(thrown: unknown): unknown {
  try {
    return thrown instanceof Error ? thrown.cause : undefined
  } catch {
    return undefined // a hostile getter
  }
}

function isHarnessError(thrown: unknown): thrown is HarnessError {
  try {
    return thrown instanceof HarnessError
  } catch {
    return false // a revoked proxy
  }
}

/** A string `code` of any error, ours or foreign. */
function codeOf(thrown: unknown): string | undefined {
  try {
    const code = (thrown as { code?: unknown } | undefined)?.code
    return typeof code === 'string' ? code : undefined
  } catch {
    return undefined // a hostile getter
  }
}

/** The class name of an error, otherwise what kind of value was thrown. Never throws. */
export function nameOf(thrown: unknown): string {
  try {
    return thrown instanceof Error && typeof thrown.name === 'string' ? thrown.name : kindOf(thrown)
  } catch {
    return 'unknown' // a hostile getter
  }
}

function kindOf(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'an array' : typeof value
}
