// The invariant of every request: each call of an assistant message is answered exactly once, directly after it.
import type { AssistantMessage, LlmMessage, ToolCallBlock, ToolMessage } from '@deepseek-ai/dsh-llm'

export interface PairedMessages {
  readonly messages: readonly LlmMessage[]
  /** One sentence a repair; empty when nothing was wrong, and `messages` is then the same array. */
  readonly repairs: readonly string[]
}

const LOST = 'The result of this call is not known. Check its effects before you call it again.'

/** Checks the pairing before each request and, when it is broken, repairs it on a copy. */
export class PairingCheck {
  /** Everything up to this message was sound: a conversation only grows, so it is not walked again. */
  private sound: { readonly length: number; readonly last: LlmMessage | undefined } = { length: 0, last: undefined }

  check(messages: readonly LlmMessage[]): PairedMessages {
    const { length, last } = this.sound
    const from = messages[length - 1] === last ? length : 0
    if (!isPaired(messages, from)) return repair(messages)
    this.sound = { length: messages.length, last: messages.at(-1) }
    return { messages, repairs: [] }
  }
}

function isPaired(messages: readonly LlmMessage[], from: number): boolean {
  let open: string[] = []
  for (let index = from; index < messages.length; index++) {
    const message = messages[index]
    if (message === undefined) continue
    if (message.role === 'tool') {
      const at = open.indexOf(message.callId)
      if (at === -1) return false
      open.splice(at, 1)
      continue
    }
    if (open.length > 0) return false
    if (message.role === 'assistant') {
      open = callsOf(message).map((call) => call.id)
      if (open.length > 1 && new Set(open).size !== open.length) return false
    }
  }
  return open.length === 0
}

function repair(messages: readonly LlmMessage[]): PairedMessages {
  const repaired: LlmMessage[] = []
  const repairs: string[] = []
  const used = new Set<ToolMessage>()
  for (const [index, message] of messages.entries()) {
    if (message.role === 'user') repaired.push(message)
    if (message.role !== 'assistant') continue
    const answered = new Set<string>()
    const content = message.content.filter((block) => {
      if (block.type !== 'tool-call' || !answered.has(block.id)) {
        if (block.type === 'tool-call') answered.add(block.id)
        return true
      }
      repairs.push(`call "${block.id}" appears twice in one message: the second is left out`)
      return false
    })
    repaired.push(content.length === message.content.length ? message : { role: 'assistant', content })
    for (const callId of answered) {
      const result = findResult(messages, index + 1, callId)
      if (result === undefined) repairs.push(`call "${callId}" has no result: an error stands in for it`)
      else used.add(result)
      repaired.push(result ?? { role: 'tool', callId, content: [{ type: 'text', text: LOST }], isError: true })
    }
  }
  for (const message of messages) {
    if (message.role !== 'tool' || used.has(message)) continue
    repairs.push(`a result of call "${message.callId}" answers no call: it is left out`)
  }
  if (repairs.length === 0) repairs.push('a result was not directly after its call: it is moved there')
  return { messages: repaired, repairs }
}

/** The first result of a call, up to the next message that makes a call of the same id. */
function findResult(messages: readonly LlmMessage[], from: number, callId: string): ToolMessage | undefined {
  for (let index = from; index < messages.length; index++) {
    const message = messages[index]
    if (message?.role === 'tool' && message.callId === callId) return message
    if (message?.role === 'assistant' && callsOf(message).some((call) => call.id === callId)) return undefined
  }
  return undefined
}

export function callsOf(message: AssistantMessage): ToolCallBlock[] {
  return message.content.filter((block) => block.type === 'tool-call')
}
