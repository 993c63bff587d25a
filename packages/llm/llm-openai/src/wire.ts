// Turns a provider-neutral request into the body of a chat completion. Sends only what any compatible server must take.
import { imageText, type ContentBlock, type ImageBlock, type JsonSchema, type ToolSchema } from '@deepseek-ai/dsh-tools'
import type { AssistantMessage, LlmMessage, LlmRequest } from '@deepseek-ai/dsh-llm'
import type OpenAI from 'openai'
import { CallIds } from './call-ids.ts'
import { inputOf, type ProviderSpec } from './config.ts'

type Body = OpenAI.ChatCompletionCreateParamsStreaming
type WireMessage = OpenAI.ChatCompletionMessageParam
/** `reasoning_content` is DeepSeek's; the library does not know it. */
type WireAssistant = OpenAI.ChatCompletionAssistantMessageParam & { reasoning_content?: string }

export function bodyOf(request: LlmRequest, spec: ProviderSpec): Body {
  const ids = new CallIds(idsOf(request.messages))
  const messages: WireMessage[] = []
  if (request.system !== '') messages.push({ role: 'system', content: wellFormed(request.system) })
  const pictures = new Pictures(inputOf(spec, request.model).includes('image'))
  for (const message of request.messages) {
    // The answers to the calls of one step have to stand together.
    if (message.role !== 'tool') messages.push(...pictures.taken())
    const mapped = messageOf(message, ids, spec, pictures)
    if (mapped !== undefined) messages.push(mapped)
  }
  messages.push(...pictures.taken())
  return {
    model: request.model,
    messages,
    stream: true,
    stream_options: { include_usage: true },
    ...(request.tools.length === 0 ? {} : { tools: request.tools.map(toolOf) }),
    ...limitOf(request.maxTokens, spec),
    ...(spec.isOpenAi && request.sessionId !== undefined ? { prompt_cache_key: request.sessionId } : {}),
  }
}

function limitOf(maxTokens: number | undefined, spec: ProviderSpec): Partial<Body> {
  if (maxTokens === undefined) return {}
  return spec.isOpenAi ? { max_completion_tokens: maxTokens } : { max_tokens: maxTokens }
}

function* idsOf(messages: readonly LlmMessage[]): Generator<string, void, void> {
  for (const message of messages) {
    if (message.role === 'tool') yield message.callId
    if (message.role !== 'assistant') continue
    for (const block of message.content) if (block.type === 'tool-call') yield block.id
  }
}

function messageOf(message: LlmMessage, ids: CallIds, spec: ProviderSpec, pictures: Pictures): WireMessage | undefined {
  switch (message.role) {
    case 'user':
      return { role: 'user', content: pictures.inside(message.content) }
    case 'tool': {
      const text = pictures.after(message.content, ids.of(message.callId))
      return { role: 'tool', tool_call_id: ids.of(message.callId), content: text === '' ? '(no output)' : text }
    }
    default:
      return assistantOf(message, ids, spec)
  }
}

type Parts = OpenAI.ChatCompletionContentPart[]

/**
 * Where images go. Only messages of a user may hold them, so those of a tool follow in a message of their own. A model that reads no
 * images gets a line in place of each.
 */
class Pictures {
  private readonly read: boolean
  private waiting: Parts = []

  constructor(read: boolean) {
    this.read = read
  }

  inside(content: readonly ContentBlock[]): string | Parts {
    if (!this.read || !content.some((block) => block.type === 'image')) return wellFormed(this.textOf(content))
    return content.map((block) => (block.type === 'text' ? textPart(block.text) : imagePart(block)))
  }

  /** The text of a tool's answer, and its images kept for the message that follows. */
  after(content: readonly ContentBlock[], callId: string): string {
    const images = this.read ? content.filter((block) => block.type === 'image') : []
    if (images.length > 0) this.waiting.push(textPart(`From the call ${callId}:`), ...images.map(imagePart))
    return wellFormed(this.textOf(content))
  }

  /** The message with the images of the answers before it, if there are any. */
  taken(): WireMessage[] {
    const content = this.waiting
    this.waiting = []
    return content.length === 0 ? [] : [{ role: 'user', content }]
  }

  private textOf(content: readonly ContentBlock[]): string {
    const shown = this.read ? 'shown below' : 'not shown, since this model reads no images'
    return content.map((block) => (block.type === 'text' ? block.text : `${imageText(block)} ${shown}`)).join('\n')
  }
}

function textPart(text: string): Parts[number] {
  return { type: 'text', text: wellFormed(text) }
}

function imagePart({ mediaType, data }: ImageBlock): Parts[number] {
  return { type: 'image_url', image_url: { url: `data:${mediaType};base64,${data}` } }
}

/** Undefined for a turn that left nothing but reasoning: servers refuse an assistant message without content and calls. */
function assistantOf(message: AssistantMessage, ids: CallIds, spec: ProviderSpec): WireAssistant | undefined {
  const text = message.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n')
  const reasoning = message.content.flatMap((block) => (block.type === 'reasoning' ? [block.text] : [])).join('')
  const calls = message.content.filter((block) => block.type === 'tool-call')
  if (text === '' && calls.length === 0) return undefined
  const content = text === '' ? null : wellFormed(text)
  if (calls.length === 0) return { role: 'assistant', content }
  return {
    role: 'assistant',
    content,
    tool_calls: calls.map((call) => ({
      id: ids.of(call.id),
      type: 'function',
      function: { name: wellFormed(call.name), arguments: argumentsOf(call.arguments) },
    })),
    ...(spec.echoReasoning && reasoning !== '' ? { reasoning_content: wellFormed(reasoning) } : {}),
  }
}

/** Servers that parse the arguments of past calls would refuse a conversation for ever because of one that is not JSON. */
function argumentsOf(raw: string): string {
  if (raw.trim() === '') return '{}'
  try {
    JSON.parse(raw)
    return wellFormed(raw)
  } catch {
    return JSON.stringify({ invalid_json: wellFormed(raw) })
  }
}

function toolOf(tool: ToolSchema): OpenAI.ChatCompletionTool {
  const parameters: { [key: string]: unknown } = { ...wellFormedJson(tool.parameters) }
  return {
    type: 'function',
    function: { name: wellFormed(tool.name), description: wellFormed(tool.description), parameters },
  }
}

function wellFormedJson(schema: JsonSchema): JsonSchema {
  const text = JSON.stringify(schema)
  // JSON writes a lone surrogate as an escape, and servers refuse that as much as the raw one.
  return text.includes('\\ud') ? (deepWellFormed(schema) as JsonSchema) : schema
}

function deepWellFormed(value: unknown): unknown {
  if (typeof value === 'string') return wellFormed(value)
  if (Array.isArray(value)) return value.map(deepWellFormed)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [wellFormed(key), deepWellFormed(each)]))
}

/** Replaces half surrogate pairs: a request with one is refused as a whole. */
function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\uFFFD')
}
