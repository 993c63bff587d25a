// What the offline model answers: a pure function of the request. Reads commands and simple sentences; invents nothing.
import { contentText } from '@deepseek-ai/dsh-tools'
import type { AssistantMessage, LlmMessage, LlmRequest, ToolMessage } from '@deepseek-ai/dsh-llm'
import { readCommands } from './command.ts'
import { introduction } from './introduction.ts'
import type { Intent } from './intent.ts'
import { readSentence } from './sentence.ts'

export interface OfflineCall {
  readonly id: string
  readonly name: string
  readonly arguments: string
}

export interface OfflineReply {
  readonly text: string
  readonly calls: readonly OfflineCall[]
}

const SHOWN_RESULT = 8000

export function reply(request: LlmRequest): OfflineReply {
  const { messages, tools } = request
  const since = messages.slice(messages.findLastIndex((message) => message.role === 'assistant') + 1)
  const results = since.filter((message) => message.role === 'tool')
  const told = results.length > 0 ? tellResults(results, messages) : ''
  const intent = intentOf(since, request, results.length > 0)
  const parts = [told, intent?.problem ?? ''].filter((part) => part !== '')
  if (intent === undefined && results.length === 0) return { text: introduction(tools), calls: [] }
  return { text: parts.join('\n\n'), calls: withIds(intent?.calls ?? [], messages) }
}

/**
 * The newest request of the person in the messages since the last answer. After tool results only commands count: a
 * sentence in a context message must not start the same call over and over.
 */
function intentOf(since: readonly LlmMessage[], request: LlmRequest, commandsOnly: boolean): Intent | undefined {
  for (const message of since.toReversed()) {
    if (message.role !== 'user') continue
    const text = contentText(message.content).trim()
    if (isTagged(text)) continue
    const intent = readCommands(text, request.tools) ?? (commandsOnly ? undefined : readSentence(text, request.tools))
    if (intent !== undefined) return intent
  }
  return undefined
}

/** Context that a plugin adds comes wrapped in a tag; no person speaks like that. */
function isTagged(text: string): boolean {
  return /^<([\w-]+)[^>]*>[^]*<\/\1>$/.test(text)
}

function tellResults(results: readonly ToolMessage[], messages: readonly LlmMessage[]): string {
  const names = new Map(callsOf(messages).map((call) => [call.id, call.name]))
  const told = results.map((result) => {
    const tool = names.get(result.callId) ?? 'tool'
    const text = shorten(contentText(result.content))
    if (result.isError) return `The ${tool} tool failed: ${text === '' ? 'it gave no reason.' : text}`
    if (text.trim() === '') return `The ${tool} tool finished and printed nothing.`
    return results.length > 1 ? `${tool}:\n${text}` : text
  })
  return told.join('\n\n')
}

function shorten(text: string): string {
  if (text.length <= SHOWN_RESULT) return text
  // A cut through a surrogate pair would leave half a character.
  const end = /[\uD800-\uDBFF]/.test(text.charAt(SHOWN_RESULT - 1)) ? SHOWN_RESULT - 1 : SHOWN_RESULT
  const shown = text.slice(0, end)
  return `${shown}\n(${text.length - end} more characters are in the result of the tool)`
}

function callsOf(messages: readonly LlmMessage[]): { id: string; name: string }[] {
  return messages
    .filter((message): message is AssistantMessage => message.role === 'assistant')
    .flatMap((message) => message.content.filter((block) => block.type === 'tool-call'))
}

/** Ids that no call of this conversation has yet. */
function withIds(calls: Intent['calls'], messages: readonly LlmMessage[]): OfflineCall[] {
  const taken = new Set(callsOf(messages).map((call) => call.id))
  let next = taken.size
  return calls.map((call) => {
    do next++
    while (taken.has(`offline-${next}`))
    return { id: `offline-${next}`, name: call.name, arguments: call.arguments }
  })
}
