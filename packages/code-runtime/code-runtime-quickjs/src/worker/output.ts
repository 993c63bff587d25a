// What a run says to the host: console lines within the output limit, calls, and when they are sent.
import type { Call } from '../protocol.ts'

/** So many lines are sent one by one, so that nothing is lost when the worker is killed; later ones in small batches. */
const EAGER_LINES = 256
const BATCH_MS = 2

/** Calls that the host holds at once; the rest waits here in order. */
const MAX_IN_FLIGHT = 1024
const CALL_OVERHEAD_BYTES = 200

const jsonBytes = (text: string): number => Buffer.byteLength(JSON.stringify(text))

export class Output {
  private logs: string[] = []
  private lines = 0
  /** Bytes of the JSON of all lines so far: brackets, commas, strings. */
  private bytes = 2
  private lastFlush = 0
  private readonly queue: string[] = []
  private head = 0
  private readonly held = new Map<number, number>()
  private heldBytes = 0
  private inFlight = 0
  private readonly send: (batch: string) => void
  private readonly maxOutputBytes: number
  private readonly maxHeldBytes: number

  constructor(send: (batch: string) => void, maxOutputBytes: number, maxHeldBytes: number) {
    this.send = send
    this.maxOutputBytes = maxOutputBytes
    this.maxHeldBytes = maxHeldBytes
  }

  get pendingCalls(): number {
    return this.held.size
  }

  /** Returns false when the line does not fit any more. */
  log(line: string, now: number): boolean {
    const bytes = this.bytes + jsonBytes(line) + (this.lines > 0 ? 1 : 0)
    if (bytes > this.maxOutputBytes) return false
    this.bytes = bytes
    this.lines += 1
    this.logs.push(line)
    if (this.lines <= EAGER_LINES) this.flush(now)
    return true
  }

  fits(value: string): boolean {
    return this.bytes + Buffer.byteLength(value) <= this.maxOutputBytes
  }

  /** Returns why the call cannot be made. */
  call(call: Call): string | undefined {
    const bytes = call.text.length + CALL_OVERHEAD_BYTES
    if (this.heldBytes + bytes > this.maxHeldBytes) {
      return `too many calls are pending (${this.held.size}, with ${this.heldBytes} bytes of arguments); await some of them first`
    }
    this.heldBytes += bytes
    this.held.set(call.id, bytes)
    this.queue.push(call.text)
    return undefined
  }

  settled(id: number): void {
    const bytes = this.held.get(id)
    if (bytes === undefined) return
    this.held.delete(id)
    this.heldBytes -= bytes
    this.inFlight -= 1
  }

  /** Sends what has been waiting for a while: for programs that never pause. */
  flushStale(now: number): void {
    if (now - this.lastFlush >= BATCH_MS) this.flush(now)
  }

  flush(now: number): void {
    this.lastFlush = now
    const room = MAX_IN_FLIGHT - this.inFlight
    const calls = room > 0 && this.head < this.queue.length ? this.queue.slice(this.head, this.head + room) : []
    if (calls.length === 0 && this.logs.length === 0) return
    this.head += calls.length
    this.inFlight += calls.length
    if (this.head === this.queue.length) {
      this.queue.length = 0
      this.head = 0
    }
    this.send(`[${JSON.stringify(this.takeLogs())},[${calls.join(',')}]]`)
  }

  takeLogs(): string[] {
    const { logs } = this
    this.logs = []
    return logs
  }
}
