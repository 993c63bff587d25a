// The conversation as a model is sent it, derived from events as they arrive. Owns the pairing of calls and results: every call
// that is sent has exactly one result, right after its assistant message and in the model's order.
import type { AssistantBlock, AssistantMessage, LlmMessage, ToolCallBlock, ToolMessage } from '@deepseek-ai/dsh-llm'
import type { SessionEventMap } from './events.ts'

/** A call that waits for its result, or that got one. */
interface Slot {
  readonly turn: number
  readonly step: number
  readonly callId: string
  /** Where its tool message stands in the conversation. */
  readonly index: number
  /** Set when the call was logged as started. */
  started?: { readonly seq: number; readonly time: number }
}

export interface UnansweredCall extends Readonly<Slot> {
  readonly outcome: UnansweredOutcome
}

export interface UnansweredOutcome {
  readonly code: 'TOOL_NOT_STARTED' | 'TOOL_OUTCOME_UNKNOWN'
  readonly message: string
}

const NOT_STARTED: UnansweredOutcome = {
  code: 'TOOL_NOT_STARTED',
  message: 'The call was never started. It is safe to make it again.',
}
const OUTCOME_UNKNOWN: UnansweredOutcome = {
  code: 'TOOL_OUTCOME_UNKNOWN',
  message:
    'The call was started, and its result was lost. It may have taken effect: verify the state before making it again.',
}

export class Conversation {
  private readonly list: LlmMessage[] = []
  /** Calls without a result, in the order in which they were asked. */
  private open: Slot[] = []
  private frozen: readonly LlmMessage[] | undefined

  /** A message that arrives while a batch is open lands behind it: the slots of the batch are taken already. */
  user({ message }: SessionEventMap['user/message']): void {
    const { content } = message
    this.add({ role: 'user', content })
  }

  assistant({ turn, step, content, interrupted }: SessionEventMap['assistant/message']): void {
    const sendable = content.filter((block) => isSendable(block, interrupted === true))
    if (sendable.length === 0) return // a provider refuses an empty message
    const message: AssistantMessage = {
      role: 'assistant',
      content: sendable.length === content.length ? content : sendable,
    }
    this.add(message)
    for (const { id: callId } of sendable.filter(isToolCall)) {
      const slot = { turn, step, callId, index: this.list.length }
      this.open.push(slot)
      this.add(standIn(slot))
    }
  }

  call({ callId }: SessionEventMap['tool/call'], seq: number, time: number): void {
    const slot = this.open.find((each) => each.callId === callId && each.started === undefined)
    if (slot === undefined) return // a call that no model asked for has no place in the conversation
    slot.started = { seq, time }
    this.replace(slot, standIn(slot))
  }

  result({ callId, callSeq, content, isError }: SessionEventMap['tool/result']): void {
    // Ids may repeat: prefer the slot of the very call that was logged, then the oldest.
    const waiting = this.open.filter((each) => each.callId === callId)
    const slot = waiting.find((each) => callSeq !== undefined && each.started?.seq === callSeq) ?? waiting[0]
    if (slot === undefined) return // an orphan or a second result: the first one is what the model has seen
    this.open = this.open.filter((each) => each !== slot)
    this.replace(slot, { role: 'tool', callId, content, isError })
  }

  /** Calls that were never answered, in the order in which they were asked. */
  unanswered(): UnansweredCall[] {
    return this.open.map((slot) => ({ ...slot, outcome: outcomeOf(slot) }))
  }

  /** The same array until the next event changes it. */
  messages(): readonly LlmMessage[] {
    return (this.frozen ??= Object.freeze(this.list.slice()))
  }

  private add(message: LlmMessage): void {
    this.list.push(Object.freeze(message))
    this.frozen = undefined
  }

  private replace(slot: Slot, message: ToolMessage): void {
    this.list[slot.index] = Object.freeze(message)
    this.frozen = undefined
  }
}

function outcomeOf(slot: Slot): UnansweredOutcome {
  return slot.started === undefined ? NOT_STARTED : OUTCOME_UNKNOWN
}

/** What a model is told of a call whose result is not there, should a request be built before it is. */
function standIn(slot: Slot): ToolMessage {
  const { code, message } = outcomeOf(slot)
  return { role: 'tool', callId: slot.callId, content: [{ type: 'text', text: `${code}: ${message}` }], isError: true }
}

function isToolCall(block: AssistantBlock): block is ToolCallBlock {
  return block.type === 'tool-call'
}

/** Calls of a cut answer are never made; empty blocks are refused by providers. */
function isSendable(block: AssistantBlock, interrupted: boolean): boolean {
  return block.type === 'tool-call' ? !interrupted : block.text !== ''
}
