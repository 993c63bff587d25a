// One streamed answer, put together from its chunks.
import type { AssistantBlock, LlmChunk, TokenUsage, ToolCallBlock } from '@deepseek-ai/dsh-llm'
import type { CallIds } from './call-ids.ts'
import type { LiveFeed } from './live.ts'

type Delta = LlmChunk & { type: 'text' | 'reasoning' | 'tool-call' }
interface TextDraft {
  readonly type: 'text' | 'reasoning'
  text: string
}
interface CallDraft {
  readonly type: 'tool-call'
  readonly id: string
  name: string
  arguments: string
}

export class AnswerDraft {
  usage: TokenUsage | undefined
  private readonly blocks: (TextDraft | CallDraft)[] = []
  private readonly calls = new Map<number, CallDraft>()
  private readonly ids = new Set<string>()
  private readonly callIds: CallIds
  private readonly live: LiveFeed

  constructor(callIds: CallIds, live: LiveFeed) {
    this.callIds = callIds
    this.live = live
  }

  add(delta: Delta): void {
    if (delta.type === 'tool-call') this.addToCall(delta)
    else if (delta.text !== '') this.addText(delta.type, delta.text)
  }

  /** Everything the model said, calls included. The draft's own blocks: complete once the stream has ended. */
  content(): readonly AssistantBlock[] {
    return this.blocks
  }

  /** Text and reasoning only: half a call must not be answered. */
  visible(): AssistantBlock[] {
    return this.blocks.filter((block) => block.type !== 'tool-call')
  }

  toolCalls(): ToolCallBlock[] {
    return [...this.calls.values()]
  }

  private addText(type: 'text' | 'reasoning', text: string): void {
    const last = this.blocks.at(-1)
    if (last?.type === type) last.text += text
    else this.blocks.push({ type, text })
    this.live.delta(type, text)
  }

  private addToCall(delta: Delta & { type: 'tool-call' }): void {
    let call = this.calls.get(delta.index)
    if (call === undefined) {
      call = { type: 'tool-call', id: this.callIds.choose(delta.id, this.ids), name: '', arguments: '' }
      this.ids.add(call.id)
      this.calls.set(delta.index, call)
      this.blocks.push(call)
    }
    if (call.name === '') call.name = delta.name ?? ''
    call.arguments += delta.argumentsDelta
    this.live.toolCall(call.id, call.name, call.arguments)
  }
}
