// One tab that follows one session: what it has been sent, and how much of that it has yet to take. A tab whose thread is
// blocked takes nothing, and everything posted to it would be kept: beyond a window it is left behind and fetches the rest later.
import type { SseMessage } from '../sse.ts'

/** UTF-16 units posted to a tab that it has not taken. One message may exceed it. */
export const windowSize = 2 * 1024 * 1024

export class Subscriber {
  /** `seq` of the newest event that was posted. */
  cursor: number
  /** Gets what the shared stream brings; otherwise it is behind and must fetch the past first. */
  level = false
  gone = false
  /** True while its past is being fetched. */
  advancing = false
  abort: AbortController | undefined
  private waiting = 0
  private outbox: SseMessage[] = []
  private readonly post: (messages: readonly SseMessage[], size: number) => void

  constructor(after: number, post: (messages: readonly SseMessage[], size: number) => void) {
    this.cursor = after
    this.post = post
  }

  /** There is room for more than a crumb. */
  get ready(): boolean {
    return this.waiting < windowSize / 2
  }

  get full(): boolean {
    return this.waiting >= windowSize
  }

  send(message: SseMessage): void {
    this.waiting += message.data.length
    this.outbox.push(message)
    // What one piece of the network brings goes out as one message.
    if (this.outbox.length === 1) queueMicrotask(() => this.flush())
  }

  taken(size: number): void {
    this.waiting -= size
  }

  private flush(): void {
    const messages = this.outbox
    this.outbox = []
    if (!this.gone)
      this.post(
        messages,
        messages.reduce((sum, { data }) => sum + data.length, 0),
      )
  }
}
