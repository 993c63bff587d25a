// Reads what listeners decide. An answer of an unknown shape is an error, never a silent allow.
import { contentViolation } from './outcome.ts'
import type { ContextMessage, PostDecision, PreDecision } from './types.ts'

/** Throws for anything but a well-formed decision; the pipeline then refuses the call. */
export function preDecision(answer: unknown): PreDecision {
  const { kind, reason } = fields(answer)
  if (kind === 'allow') return { kind }
  if (kind === 'deny' && typeof reason === 'string') return { kind, reason }
  if (kind === 'ask' && (reason === undefined || typeof reason === 'string')) {
    return reason === undefined ? { kind } : { kind, reason }
  }
  throw new TypeError(
    `a tools/pre-execute listener must return {kind: 'allow'}, {kind: 'deny', reason} or {kind: 'ask', reason?} (got ${shown(answer)})`,
  )
}

/** Throws for anything but a well-formed decision. */
export function postDecision(answer: unknown): PostDecision {
  const { kind, content, value, feedback, additionalContexts } = fields(answer)
  if (!isContextList(additionalContexts)) {
    throw new TypeError('additionalContexts of a tools/post-execute decision must be a list of {content, source}')
  }
  if (kind === 'accept') {
    if (content !== undefined && value !== undefined) {
      throw new TypeError('a tools/post-execute listener may replace content or value, not both')
    }
    if (content !== undefined) requireContent('content', content)
    return answer as PostDecision
  }
  if (kind === 'block') {
    requireContent('feedback', feedback)
    return answer as PostDecision
  }
  throw new TypeError(
    `a tools/post-execute listener must return {kind: 'accept', …} or {kind: 'block', feedback} (got ${shown(answer)})`,
  )
}

/** The least a wrapper's own result must have. */
export type ForeignResult = { additionalContexts?: readonly ContextMessage[] } & (
  | { isError: false; value: unknown }
  | { isError: true; error: { message: string; code?: string; name?: string } }
)

export function isResultShape(returned: unknown): returned is ForeignResult {
  const { isError, error, value, additionalContexts } = fields(returned)
  if (!isContextList(additionalContexts)) return false
  if (isError === false) return value !== undefined
  if (isError !== true) return false
  const { message, code, name } = fields(error)
  return typeof message === 'string' && isOptionalString(code) && isOptionalString(name)
}

/** True for what a model request can take in: text or blocks, and who says so. */
export function isContextMessage(message: unknown): message is ContextMessage {
  const { content, source } = fields(message)
  const { kind } = fields(source)
  const isKnown = kind === 'user' || kind === 'plugin' || kind === 'tool'
  return isKnown && (typeof content === 'string' || contentViolation(content) === undefined)
}

function isContextList(messages: unknown): messages is readonly ContextMessage[] | undefined {
  return messages === undefined || (Array.isArray(messages) && messages.every(isContextMessage))
}

function requireContent(name: string, blocks: unknown): void {
  const wrong = contentViolation(blocks)
  if (wrong !== undefined) throw new TypeError(`${name} of a tools/post-execute decision is ${wrong}`)
}

function isOptionalString(value: unknown): value is string | undefined {
  return value === undefined || typeof value === 'string'
}

function fields(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

function shown(value: unknown): string {
  try {
    return JSON.stringify(value) ?? typeof value
  } catch {
    return typeof value // circular or hostile
  }
}
