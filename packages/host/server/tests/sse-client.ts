// A reader of event streams over a plain socket: it can stop reading, and it can cut the connection at any byte.
import { request, type IncomingMessage } from 'node:http'
import type { CaughtUpFrame, EventFrame, HostFrame, LiveFrame } from '../src/protocol.ts'

export interface Frame {
  readonly event: string
  readonly id: number | undefined
  readonly data: unknown
}

export class SseClient {
  readonly frames: Frame[] = []
  ended = false
  private readonly response: IncomingMessage
  private rest = ''
  private waiting: (() => void)[] = []
  comments = 0
  /** Sees each frame as it comes; false means that it is not kept. */
  onFrame: (frame: Frame) => boolean = () => true

  private constructor(response: IncomingMessage) {
    this.response = response
    response.setEncoding('utf8')
    response.on('data', (chunk: string) => this.read(chunk))
    const onEnd = (): void => {
      this.ended = true
      this.notify()
    }
    response.on('close', onEnd).on('error', onEnd)
  }

  /** Resolves once the headers are there; rejects with the body for a status other than 200. */
  static open(url: string, headers: Record<string, string> = {}): Promise<SseClient> {
    return new Promise((resolve, reject) => {
      const sent = request(url, { headers, agent: false }, (response) => {
        if (response.statusCode === 200) return resolve(new SseClient(response))
        let body = ''
        response.setEncoding('utf8').on('data', (chunk: string) => (body += chunk))
        response.on('end', () => reject(new Error(`${response.statusCode} ${body}`)))
      })
      sent.on('error', reject)
      sent.end()
    })
  }

  get events(): EventFrame[] {
    return this.frames.filter(({ event }) => event === 'event').map(({ data }) => data as EventFrame)
  }
  get seqs(): number[] {
    return this.events.map(({ event }) => event.seq)
  }
  get live(): LiveFrame[] {
    return this.frames.filter(({ event }) => event === 'live').map(({ data }) => data as LiveFrame)
  }
  get caughtUp(): CaughtUpFrame[] {
    return this.frames.filter(({ event }) => event === 'caught-up').map(({ data }) => data as CaughtUpFrame)
  }
  get host(): HostFrame[] {
    return this.frames.filter(({ event }) => event === 'host').map(({ data }) => data as HostFrame)
  }

  /** Waits for a fact about what has arrived. */
  async until(fact: (client: SseClient) => boolean): Promise<void> {
    while (!fact(this)) {
      if (this.ended) throw new Error(`the stream ended first, with ${this.frames.length} frames`)
      await new Promise<void>((resolve) => this.waiting.push(resolve))
    }
  }

  async whenEnded(): Promise<void> {
    while (!this.ended) await new Promise<void>((resolve) => this.waiting.push(resolve))
  }

  pause(): void {
    this.response.pause()
  }
  resume(): void {
    this.response.resume()
  }
  close(): void {
    this.response.destroy()
  }

  private read(chunk: string): void {
    this.rest += chunk
    let end: number
    while ((end = this.rest.indexOf('\n\n')) !== -1) {
      this.frame(this.rest.slice(0, end))
      this.rest = this.rest.slice(end + 2)
    }
    this.notify()
  }

  private frame(text: string): void {
    const fields = new Map(
      text.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]),
    )
    if (fields.has('')) this.comments++
    const data = fields.get('data')
    if (data === undefined) return
    const id = fields.get('id')
    const frame: Frame = {
      event: fields.get('event') ?? 'message',
      id: id === undefined ? undefined : Number(id),
      data: JSON.parse(data) as unknown,
    }
    if (this.onFrame(frame)) this.frames.push(frame)
  }

  private notify(): void {
    const { waiting } = this
    this.waiting = []
    for (const resolve of waiting) resolve()
  }
}
