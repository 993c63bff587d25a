// What is visible of a running turn but not in the log yet, folded from the one stream that the tabs share: a tab that joins
// later starts from it. As large as what is running, never as long as it ran.
import type { CaughtUpFrame, EventFrame, LiveFrame } from '@deepseek-ai/dsh-server/protocol'
import { keepTail } from '../state/fold.ts'

type Snapshot = CaughtUpFrame['snapshot']
type Progress = Extract<LiveFrame, { kind: 'progress' }>

export class LiveState {
  private status: Snapshot['status'] = 'idle'
  private text = ''
  private reasoning = ''
  private readonly written = new Map<string, LiveFrame>()
  private readonly output = new Map<string, string>()
  /** Newest label and fraction of each call. */
  private readonly marks = new Map<string, Progress>()

  restart(snapshot: Snapshot): void {
    this.clear()
    this.status = snapshot.status
    this.text = snapshot.text
    this.reasoning = snapshot.reasoning
    for (const { callId, text } of snapshot.progress) this.output.set(callId, text)
  }

  push(live: LiveFrame): void {
    switch (live.kind) {
      case 'status':
        this.status = live.status
        return
      case 'attempt':
        return this.clearStreamed()
      case 'delta':
        if (live.block === 'text') this.text += live.text
        else this.reasoning += live.text
        return
      case 'tool-call':
        this.written.set(live.callId, live)
        return
      case 'progress':
        if (live.progress.kind !== 'text') this.marks.set(`${live.progress.kind} ${live.callId}`, live)
        else this.output.set(live.callId, keepTail((this.output.get(live.callId) ?? '') + live.progress.text))
        return
      default:
        live satisfies never
    }
  }

  /** Forgets what a durable event says for good. */
  settle({ event }: EventFrame): void {
    if (event.type === 'assistant/message' || event.type === 'llm/retry') this.clearStreamed()
    if (event.type === 'turn/start' || event.type === 'turn/end') this.clear()
    if (event.type !== 'tool/result') return
    const { callId } = event.data
    this.output.delete(callId)
    for (const [key, mark] of this.marks) if (mark.callId === callId) this.marks.delete(key)
  }

  snapshot(): Snapshot {
    const progress = Array.from(this.output, ([callId, text]) => ({ callId, text }))
    return { status: this.status, text: this.text, reasoning: this.reasoning, progress }
  }

  /** What a snapshot has no room for; follows it. */
  rest(): LiveFrame[] {
    return [...this.written.values(), ...this.marks.values()]
  }

  clear(): void {
    this.clearStreamed()
    this.output.clear()
    this.marks.clear()
  }

  private clearStreamed(): void {
    this.text = ''
    this.reasoning = ''
    this.written.clear()
  }
}
