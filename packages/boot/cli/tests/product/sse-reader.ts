// A reader of a session's event stream over a plain socket, which can also stop reading for ever.
import { request, type IncomingMessage } from 'node:http'
import type { CaughtUpFrame, EventFrame, LiveFrame } from '@deepseek-ai/dsh-server/protocol'
import type { SessionEvent, SessionEventType } from '@deepseek-ai/dsh-session'

export class SseReader {
  readonly frames: EventFrame[] = []
  readonly events: SessionEvent[] = []
  /** The last 100 only: there may be very many. */
  readonly live: LiveFrame[] = []
  liveCount = 0
  caughtUp: CaughtUpFrame | undefined
  private readonly response: IncomingMessage
  private rest = ''
  private ended = false
  private waiting: (() => void)[] = []

  private constructor(response: IncomingMessage) {
    this.response = response
    response.setEncoding('utf8').on('data', (chunk: string) => this.read(chunk))
    const onEnd = (): void => {
      this.ended = true
      this.notify()
    }
    response.on('close', onEnd).on('error', onEnd)
  }

  static open(url: URL, headers: Record<string, string>): Promise<SseReader> {
    return new Promise((resolve, reject) => {
      connect(url, headers, (response) => resolve(new SseReader(response))).on('error', reject)
    })
  }

  /** Opens a stream and reads nothing of it but the headers. Returns what closes it. */
  static openAndIgnore(url: URL, headers: Record<string, string>): Promise<() => void> {
    return new Promise((resolve, reject) => {
      connect(url, headers, (response) => {
        response.on('error', () => undefined)
        resolve(() => response.destroy())
      }).on('error', reject)
    })
  }

  of<T extends SessionEventType>(type: T): SessionEvent<T>[] {
    // A predicate cannot say this: the compiler does not see that a type names one member of the union.
    return this.events.filter((event) => event.type === type) as SessionEvent<T>[]
  }

  /** Waits for a fact about what has arrived. */
  async until(fact: (reader: SseReader) => boolean): Promise<void> {
    while (!fact(this)) {
      if (this.ended) throw new Error(`the stream ended first, after ${this.events.length} events`)
      await new Promise<void>((resolve) => this.waiting.push(resolve))
    }
  }

  close(): void {
    this.response.destroy()
  }

  private read(chunk: string): void {
    this.rest += chunk
    const frames = this.rest.split('\n\n')
    this.rest = frames.pop()!
    for (const frame of frames) this.frame(frame)
    this.notify()
  }

  private frame(text: string): void {
    const kind = /^event: (.*)$/m.exec(text)?.[1]
    const data = /^data: (.*)$/m.exec(text)?.[1]
    if (kind === undefined || data === undefined) return
    if (kind === 'event') {
      const frame = JSON.parse(data) as EventFrame
      this.frames.push(frame)
      this.events.push(frame.event)
    } else if (kind === 'live') {
      this.liveCount++
      this.live.push(JSON.parse(data) as LiveFrame)
      if (this.live.length > 100) this.live.shift()
    } else if (kind === 'caught-up') {
      this.caughtUp = JSON.parse(data) as CaughtUpFrame
    }
  }

  private notify(): void {
    const { waiting } = this
    this.waiting = []
    for (const resolve of waiting) resolve()
  }
}

function connect(url: URL, headers: Record<string, string>, onOpen: (response: IncomingMessage) => void) {
  const sent = request(url, { headers, agent: false }, (response) => {
    if (response.statusCode === 200) onOpen(response)
    else sent.destroy(new Error(`${url.pathname} answered ${response.statusCode}`))
  })
  return sent.end()
}
