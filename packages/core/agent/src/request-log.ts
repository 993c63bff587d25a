// What a request says besides the conversation: the logged header and the changing context, so that the log alone rebuilds it.
import { randomUUID } from 'node:crypto'
import type { LlmMessage, ModelRef } from '@deepseek-ai/dsh-llm'
import type { Session, SessionEventMap } from '@deepseek-ai/dsh-session'
import type { AssembledPrompt } from '@deepseek-ai/dsh-system-prompt'
import { contentText, type ToolSchema } from '@deepseek-ai/dsh-tools'
import { PairingCheck } from './pairing.ts'

type Header = SessionEventMap['request/header']

const CONTEXT_HEAD = 'Current context. It replaces what earlier messages of this kind said.'
const CONTEXT_EMPTY = 'Earlier context messages no longer apply.'

export class RequestLog {
  private readonly session: Session
  private readonly pairing = new PairingCheck()
  private readonly told = new Set<string>()
  /** Unknown until the first request: a resumed session may hold one. */
  private context: { readonly text: string | undefined } | undefined
  /** The last answer of `logHeader` and the schemas it was made for: the very same ones need no second look. */
  private known: { readonly header: Header; readonly tools: readonly ToolSchema[] } | undefined

  constructor(session: Session) {
    this.session = session
  }

  /** Logs the context when its text changed. It comes before the step's own messages, so that a person has the last word. */
  logContext(turn: number, { contexts }: AssembledPrompt): void {
    const facts = contexts.map((each) => each.text).filter((text) => text.trim() !== '')
    this.context ??= { text: lastContext(this.session.messages()) }
    if (facts.length === 0 && this.context.text === undefined) return
    const text = [CONTEXT_HEAD, ...(facts.length === 0 ? [CONTEXT_EMPTY] : facts)].join('\n\n')
    if (text === this.context.text) return
    const content = [{ type: 'text' as const, text }]
    const source = { kind: 'plugin' as const, plugin: 'system-prompt' }
    this.session.append('user/message', { turn, message: { id: randomUUID(), content, source } })
    this.context = { text }
  }

  /** The header of the next request, logged when it is the first or another one. The logged object is what is sent. */
  logHeader({ provider, model }: ModelRef, { system, tools }: AssembledPrompt): Header {
    const last = this.session.header
    const same = last?.provider === provider && last.model === model && last.system === system
    const header =
      same && this.sameTools(last, tools)
        ? last
        : this.session.append('request/header', { provider, model, system, tools }).data
    this.known = { header, tools }
    return header
  }

  private sameTools(last: Header, tools: readonly ToolSchema[]): boolean {
    const { known } = this
    return (known?.header === last && sameObjects(known.tools, tools)) || sameJson(last.tools, tools)
  }

  /** The conversation to send, with every call answered. Tells of each repair once. */
  messages(): readonly LlmMessage[] {
    const { messages, repairs } = this.pairing.check(this.session.messages())
    if (repairs.length === 0) return messages
    const news = repairs.filter((each) => !this.told.has(each))
    for (const each of news) this.told.add(each)
    if (news.length > 0) {
      const message = `Before the request: ${news.join('; ')}.`
      this.session.append('session/notice', { code: 'PAIRING_REPAIRED', message })
    }
    return messages
  }
}

/** Schemas that cannot have changed in between are shared and frozen by whoever keeps them. */
function sameObjects(a: readonly ToolSchema[], b: readonly ToolSchema[]): boolean {
  return a.length === b.length && a.every((schema, index) => schema === b[index] && Object.isFrozen(schema))
}

function lastContext(messages: readonly LlmMessage[]): string | undefined {
  for (let index = messages.length - 1; index >= 0; index--) {
    const message = messages[index]
    if (message?.role !== 'user') continue
    const [first] = message.content
    if (first?.type === 'text' && first.text.startsWith(CONTEXT_HEAD)) return contentText(message.content)
  }
  return undefined
}

/** Byte-equal as JSON: the order of keys counts, since provider caches see it. */
function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const keys = Object.keys(a)
  const others = Object.keys(b)
  return (
    keys.length === others.length &&
    keys.every((key, index) => key === others[index] && sameJson(Reflect.get(a, key), Reflect.get(b, key)))
  )
}
