// One open server-sent event stream: framing, backpressure and the heartbeat. What is sent, and when, is the caller's business.
import type { ServerResponse } from 'node:http'

export interface SseOptions {
  heartbeatMs: number
  /** A reader that takes nothing for this long while bytes wait is cut off: what waits for it is memory. */
  stallMs: number
}

/** Small frames are sent together: a write of its own costs more than most of them. */
const GATHER_BYTES = 32 * 1024

/** A frame as bytes. `id` makes it resumable. */
export function sseFrame(event: string, json: string, id?: number): Buffer {
  // JSON text has no line breaks, so one data line holds it.
  return Buffer.from(`event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}data: ${json}\n\n`)
}

export class SseWriter {
  /** True once the connection has ended, from either side. */
  closed = false
  private readonly response: ServerResponse
  private readonly heartbeat: NodeJS.Timeout
  private readonly stallMs: number
  private stall: NodeJS.Timeout | undefined
  private readonly onClosed = new Set<() => void>()
  private gathered: Buffer[] = []
  private gatheredBytes = 0
  private release: (() => void) | undefined

  constructor(response: ServerResponse, options: SseOptions) {
    this.response = response
    this.stallMs = options.stallMs
    this.heartbeat = setInterval(() => this.beat(), options.heartbeatMs).unref()
    if (response.destroyed || response.writableEnded) {
      this.close() // the reader left before the stream began: no `close` event is to come
      return
    }
    response.writeHead(200, {
      'Content-Type': 'text/event-stream; charset=utf-8',
      'Cache-Control': 'no-store',
      // Ends the connection with the stream: a closed tab must not leave a socket that waits for another request.
      Connection: 'close',
    })
    response.write('retry: 1000\n\n')
    response.on('drain', () => this.wake())
    response.on('close', () => this.close())
    // A write after the peer has gone reports here; `close` follows.
    response.on('error', () => this.close())
  }

  /** Gathers bytes; `flush()` or `drained()` sends the rest. Check `full` after each: what is queued is not bounded by itself. */
  write(bytes: Buffer): void {
    if (this.closed) return
    if (bytes.length >= GATHER_BYTES) {
      // Large frames are shared with other readers: they go out uncopied.
      this.flush()
      this.send(bytes)
      return
    }
    this.gathered.push(bytes)
    this.gatheredBytes += bytes.length
    if (this.gatheredBytes >= GATHER_BYTES) this.flush()
  }

  flush(): void {
    const { gathered } = this
    if (gathered.length === 0 || this.closed) return
    this.gathered = []
    this.gatheredBytes = 0
    this.send(gathered.length === 1 ? gathered[0]! : Buffer.concat(gathered))
  }

  /** True while the reader is behind by more than the socket's buffer. */
  get full(): boolean {
    return !this.closed && this.response.writableNeedDrain
  }

  /** Resolves when the reader has caught up or the connection has ended. */
  drained(): Promise<void> {
    this.flush()
    if (!this.full) return Promise.resolve()
    return new Promise((resolve) => {
      this.release = resolve
    })
  }

  /** Calls `listener` once, when the connection ends. */
  whenClosed(listener: () => void): void {
    if (this.closed) listener()
    else this.onClosed.add(listener)
  }

  /** Ends the stream; what is queued is still sent to a reader that reads. */
  end(): void {
    if (this.closed) return
    this.flush()
    // A reader that takes nothing would hold the connection, and what is queued on it, for ever.
    if (this.full) setTimeout(() => this.response.destroy(), this.stallMs).unref()
    this.response.end()
    this.close()
  }

  private send(bytes: Buffer): void {
    if (this.response.write(bytes)) return
    this.stall ??= setTimeout(() => this.response.destroy(), this.stallMs).unref()
  }

  private beat(): void {
    // A reader that is behind has enough to read.
    if (!this.full && !this.closed) this.response.write(':\n\n')
  }

  private close(): void {
    if (this.closed) return
    this.closed = true
    clearInterval(this.heartbeat)
    clearTimeout(this.stall)
    this.gathered = []
    this.wake()
    for (const listener of this.onClosed) listener()
    this.onClosed.clear()
  }

  private wake(): void {
    clearTimeout(this.stall)
    this.stall = undefined
    this.release?.()
    this.release = undefined
  }
}
