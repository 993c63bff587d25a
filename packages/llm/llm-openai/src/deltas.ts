// Assembles the chunks of a streamed chat completion into neutral ones, for servers that differ in how they stream calls.
import { randomUUID } from 'node:crypto'
import { failureChunk, type LlmChunk, type TokenUsage } from '@deepseek-ai/dsh-llm'

/** A chunk as it comes from the wire: every field may be missing or of another type. */
type Loose = { readonly [key: string]: unknown }

interface Slot {
  readonly index: number
  readonly wireIndex: number | undefined
  wireId: string | undefined
  name: string
  started: boolean
  /** Arguments that came before the name. */
  waiting: string
}

export class DeltaReader {
  private readonly slots: Slot[] = []
  private finishReason: string | undefined

  /** True once the server has said why it stopped; what may follow is usage. */
  get finished(): boolean {
    return this.finishReason !== undefined
  }

  *read(chunk: unknown): Generator<LlmChunk, void, void> {
    if (!isLoose(chunk)) return
    const choice = listOf(chunk['choices'])[0]
    if (isLoose(choice)) {
      const delta = isLoose(choice['delta']) ? choice['delta'] : {}
      const reasoning = textOf(delta['reasoning_content']) || textOf(delta['reasoning'])
      if (reasoning !== '') yield { type: 'reasoning', text: reasoning }
      const text = textOf(delta['content']) || textOf(delta['refusal'])
      if (text !== '') yield { type: 'text', text }
      for (const call of listOf(delta['tool_calls'])) if (isLoose(call)) yield* this.readCall(call)
      if (typeof choice['finish_reason'] === 'string') this.finishReason = choice['finish_reason']
    }
    const usage = usageOf(chunk['usage'])
    if (usage !== undefined) yield { type: 'usage', usage }
  }

  /** The terminal chunk, once the server has finished. */
  end(provider: string): LlmChunk {
    if (this.slots.some((slot) => !slot.started)) {
      return failureChunk('MALFORMED_RESPONSE', `"${provider}" sent a tool call without a name; try again.`)
    }
    switch (this.finishReason) {
      case undefined:
        return failureChunk(
          'STREAM_CLOSED',
          `"${provider}" closed the connection before its answer was complete; try again.`,
        )
      case 'length':
        return { type: 'finish', reason: 'max-tokens' }
      case 'content_filter':
        return failureChunk(
          'INVALID_REQUEST',
          `The content filter of "${provider}" stopped the answer; word the request differently.`,
        )
      case 'insufficient_system_resource':
      case 'error':
        return failureChunk('SERVER', `"${provider}" had to stop its answer; try again.`)
      default:
        return { type: 'finish', reason: this.slots.length > 0 ? 'tool-calls' : 'stop' }
    }
  }

  private *readCall(call: Loose): Generator<LlmChunk, void, void> {
    const body = isLoose(call['function']) ? call['function'] : {}
    const name = textOf(body['name'])
    const slot = this.slotOf(call, name)
    const delta = slot.waiting + argumentsOf(body['arguments'])
    if (slot.started) {
      // A repeated id or name says nothing new.
      if (delta !== '') yield { type: 'tool-call', index: slot.index, argumentsDelta: delta }
      return
    }
    slot.name ||= name
    slot.waiting = delta
    if (slot.name === '') return
    slot.started = true
    slot.waiting = ''
    const id = slot.wireId ?? `call_${randomUUID()}`
    yield { type: 'tool-call', index: slot.index, id, name: slot.name, argumentsDelta: delta }
  }

  /**
   * The call that a delta belongs to. An id that is known wins; then the index, unless the delta starts another call under an index
   * in use (servers that send whole calls, all with index 0); then the newest call.
   */
  private slotOf(call: Loose, name: string): Slot {
    const wireId = textOf(call['id']) || undefined
    const wireIndex = typeof call['index'] === 'number' ? call['index'] : undefined
    const byId = wireId === undefined ? undefined : this.slots.findLast((slot) => slot.wireId === wireId)
    if (byId !== undefined && (wireIndex === undefined || byId.wireIndex === wireIndex)) return byId
    const near =
      wireIndex === undefined ? this.slots.at(-1) : this.slots.findLast((slot) => slot.wireIndex === wireIndex)
    const another = near?.started === true && wireId !== undefined && near.wireId !== wireId && name !== ''
    // Without index and id, a name is the only sign of a new call.
    const unmarked = wireIndex === undefined && wireId === undefined && near?.started === true && name !== ''
    if (near !== undefined && !another && !unmarked) {
      near.wireId ??= wireId
      return near
    }
    const slot: Slot = { index: this.slots.length, wireIndex, wireId, name: '', started: false, waiting: '' }
    this.slots.push(slot)
    return slot
  }
}

function usageOf(usage: unknown): TokenUsage | undefined {
  if (!isLoose(usage)) return undefined
  const prompt = countOf(usage['prompt_tokens'])
  const output = countOf(usage['completion_tokens'])
  if (prompt === undefined && output === undefined) return undefined
  const details = isLoose(usage['prompt_tokens_details']) ? usage['prompt_tokens_details'] : {}
  const outputDetails = isLoose(usage['completion_tokens_details']) ? usage['completion_tokens_details'] : {}
  const cacheRead = countOf(details['cached_tokens']) ?? countOf(usage['prompt_cache_hit_tokens'])
  const reasoning = countOf(outputDetails['reasoning_tokens'])
  return {
    input: Math.max(0, (prompt ?? 0) - (cacheRead ?? 0)),
    output: output ?? 0,
    ...(cacheRead === undefined ? {} : { cacheRead }),
    ...(reasoning === undefined ? {} : { reasoning }),
  }
}

function countOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined
}

/** Some servers send the arguments as an object at once. */
function argumentsOf(value: unknown): string {
  return isLoose(value) ? JSON.stringify(value) : textOf(value)
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function isLoose(value: unknown): value is Loose {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
