// The behaviour without a script: makes the call that the last user message asks for, then answers with what the tool said.
import type { MockBehaviour } from './behaviour.ts'
import type { MockRequest } from './server.ts'

interface Message {
  role?: unknown
  content?: unknown
}
interface Tool {
  function?: {
    name?: unknown
    parameters?: { properties?: Record<string, { type?: unknown }>; required?: unknown }
  }
}

/**
 * "Use the greet tool to greet Ada." calls `greet` with its first required property set to the words after "to <verb>" (or
 * a quoted text, or a JSON object in the message). After a tool message it answers with that message. Else it echoes.
 */
export function followTools(request: MockRequest): MockBehaviour {
  const messages = listOf<Message>(request.body['messages'])
  const since = messages.slice(messages.findLastIndex((message) => message.role === 'assistant') + 1)
  const results = since.filter((message) => message.role === 'tool').map((message) => textOf(message.content))
  if (results.length > 0) return { kind: 'answer', text: results.join('\n') }
  const users = since.filter((message) => message.role === 'user').map((message) => textOf(message.content))
  for (const asked of users.toReversed()) {
    const call = callFor(asked, listOf<Tool>(request.body['tools']))
    if (call !== undefined) return { kind: 'answer', toolCalls: [call] }
  }
  return { kind: 'answer', text: `You said: ${users.at(-1) ?? ''}` }
}

function callFor(asked: string, tools: readonly Tool[]) {
  for (const tool of tools) {
    const name = tool.function?.name
    if (typeof name !== 'string') continue
    const pattern = new RegExp(`\\b(?:use|call|run)\\s+(?:the\\s+)?\`?${name.replace(/\W/g, '\\$&')}\`?(?![\\w-])`, 'i')
    if (pattern.test(asked)) return { name, arguments: argumentsFor(asked, tool) }
  }
  return undefined
}

function argumentsFor(asked: string, tool: Tool): string | Record<string, unknown> {
  const json = /\{[^]*\}/.exec(asked)?.[0]
  if (json !== undefined) return json
  const value =
    /[`"“]([^`"”]+)[`"”]/.exec(asked.replace(/`\w+`\s+tool/, ''))?.[1] ??
    /\bto\s+\w+\s+(.+?)[.!?]*\s*$/is.exec(asked)?.[1] ??
    asked
  const required = listOf<unknown>(tool.function?.parameters?.required).filter((name) => typeof name === 'string')
  return Object.fromEntries(required.map((name, index) => [name, index === 0 ? value : asked]))
}

function listOf<T>(value: unknown): T[] {
  return Array.isArray(value) ? (value as T[]) : []
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  return listOf<{ text?: unknown }>(content)
    .map((part) => (typeof part.text === 'string' ? part.text : ''))
    .join('\n')
}
