// What the offline model answers: a pure function of the request. Reads commands and simple sentences; invents nothing.
import { contentText } from '@deepseek-ai/dsh-tools'
import type {
  AssistantMessage,
  LlmMessage,
  LlmRequest,
  ToolCallBlock,
  ToolMessage,
  UserMessage,
} from '@deepseek-ai/dsh-llm'
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
  const results = resultsOf(since)
  const intent = intentOf(since, request, results)
  // What stands before a person's newest message belongs to a turn that was stopped: they have seen it and ask something else.
  const due = intent === 'answered' ? results : resultsOf(since.slice(since.findLastIndex(isAsked) + 1))
  const told = due.length > 0 ? tellResults(due, messages) : ''
  if (intent === 'answered') return { text: told, calls: [] }
  const parts = [told, intent?.problem ?? ''].filter((part) => part !== '')
  if (intent === undefined && due.length === 0) return { text: introduction(tools), calls: [] }
  return { text: parts.join('\n\n'), calls: withIds(intent?.calls ?? [], messages) }
}

/**
 * The newest request of the person in the messages since the last answer. Behind tool results stands either what a person
 * asked after a turn that was stopped, or context that a plugin added: a sentence counts, unless it would start the same
 * call over and over; then the results have answered it.
 */
function intentOf(
  since: readonly LlmMessage[],
  request: LlmRequest,
  results: readonly ToolMessage[],
): Intent | 'answered' | undefined {
  const { tools, messages } = request
  for (const message of since.toReversed()) {
    if (!isAsked(message)) continue
    const text = contentText(message.content).trim()
    const command = readCommands(text, tools)
    if (command !== undefined) return command
    const sentence = readSentence(text, tools)
    if (sentence === undefined) continue
    return results.length > 0 && repeats(sentence, results, messages) ? 'answered' : sentence
  }
  return undefined
}

function resultsOf(messages: readonly LlmMessage[]): ToolMessage[] {
  return messages.filter((message) => message.role === 'tool')
}

/** True for calls that have just succeeded, and for calls that have failed twice in a row. */
function repeats(intent: Intent, results: readonly ToolMessage[], messages: readonly LlmMessage[]): boolean {
  const steps = messages.filter((message) => message.role === 'assistant').map((message) => callsOf([message]))
  const made = (call: Intent['calls'][number], step: readonly ToolCallBlock[]): boolean =>
    step.some(({ name, arguments: args }) => name === call.name && args === call.arguments)
  const failed = results.every((result) => result.isError)
  const looked = failed ? steps.slice(-2) : steps.slice(-1)
  if (intent.calls.length === 0 || looked.length < (failed ? 2 : 1)) return false
  return intent.calls.every((call) => looked.every((step) => made(call, step)))
}

/** True for what a person wrote. Context that a plugin adds comes wrapped in a tag; no person speaks like that. */
function isAsked(message: LlmMessage): message is UserMessage {
  return message.role === 'user' && !/^<([\w-]+)[^>]*>[^]*<\/\1>$/.test(contentText(message.content).trim())
}

function tellResults(results: readonly ToolMessage[], messages: readonly LlmMessage[]): string {
  const names = new Map(callsOf(messages).map((call) => [call.id, call.name]))
  const told = results.map((result) => {
    const tool = names.get(result.callId) ?? 'tool'
    const text = contentText(result.content)
    if (result.isError) return `The ${tool} tool failed:${text.trim() === '' ? ' it gave no reason.' : quoted(text)}`
    if (text.trim() === '') return `The ${tool} tool finished and printed nothing.`
    if (isOneLine(text)) return results.length > 1 ? `${tool}:${quoted(text)}` : quoted(text).trim()
    return `The ${tool} tool returned:${quoted(text)}`
  })
  return told.join('\n\n')
}

/** What follows a colon: one line as it is; several as a code block, since a reader of Markdown joins plain lines. */
function quoted(text: string): string {
  const { shown, left } = shortened(text)
  const more = left === 0 ? '' : `(${left} more characters are in the result of the tool)`
  if (isOneLine(text)) return more === '' ? ` ${shown.trim()}` : ` ${shown.trim()} ${more}`
  const fence = '`'.repeat(Math.max(3, ...[...shown.matchAll(/`+/g)].map(([run]) => run.length + 1)))
  return `\n\n${fence}\n${shown.replace(/\n$/, '')}\n${fence}${more === '' ? '' : `\n\n${more}`}`
}

function isOneLine(text: string): boolean {
  return !/[\r\n]/.test(text.trim())
}

function shortened(text: string): { shown: string; left: number } {
  if (text.length <= SHOWN_RESULT) return { shown: text, left: 0 }
  // A cut through a surrogate pair would leave half a character.
  const end = /[\uD800-\uDBFF]/.test(text.charAt(SHOWN_RESULT - 1)) ? SHOWN_RESULT - 1 : SHOWN_RESULT
  return { shown: text.slice(0, end), left: text.length - end }
}

function callsOf(messages: readonly LlmMessage[]): ToolCallBlock[] {
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
