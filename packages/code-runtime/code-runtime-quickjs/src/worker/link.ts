// The worker's end of what it shares with the host: settlements in, batches out, sleep and stop.
import { receiveMessageOnPort, type MessagePort } from 'node:worker_threads'
import { Receiver, Sender } from '../channel.ts'
import { Eagerness, LOOK_MS } from '../eagerness.ts'
import { LOOKING, RING, STOP, TO_HOST_AT, TO_WORKER_AT, WAKE, type FromWorker } from '../protocol.ts'

const LOOKS_PER_CLOCK = 64

export class Link {
  private readonly port: MessagePort
  private readonly control: Int32Array
  private readonly sender: Sender
  private readonly receiver: Receiver
  private readonly eagerness = new Eagerness()

  constructor(port: MessagePort, shared: SharedArrayBuffer) {
    this.port = port
    this.control = new Int32Array(shared, 0, LOOKING + 1)
    this.sender = new Sender(shared, TO_HOST_AT, (number, text) => this.say({ type: 'large', number, text }))
    this.receiver = new Receiver(shared, TO_WORKER_AT, (number) => this.large(number))
  }

  say(message: FromWorker): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port of a worker thread, not a window
    this.port.postMessage(message)
  }

  send(batch: string): void {
    this.sender.send(batch)
    Atomics.add(this.control, RING, 1)
    if (Atomics.load(this.control, LOOKING) === 0) Atomics.notify(this.control, RING)
  }

  /** Forgets what the host has sent for earlier runs. */
  begin(received: number): void {
    this.receiver.skipTo(received)
  }

  next(): string | undefined {
    return this.receiver.next()
  }

  /** The run that must stop. */
  get stopped(): number {
    return Atomics.load(this.control, STOP)
  }

  /** How often the host has woken the worker; to be read before looking for what it has sent. */
  get wakes(): number {
    return Atomics.load(this.control, WAKE)
  }

  /** Returns when the host has woken the worker since it counted `wakes`, or after so many milliseconds. */
  sleep(wakes: number, milliseconds: number): void {
    if (milliseconds > LOOK_MS && this.eagerness.shouldLook()) {
      const found = this.look(wakes)
      this.eagerness.looked(found)
      if (found) return
    }
    Atomics.wait(this.control, WAKE, wakes, milliseconds)
  }

  private look(wakes: number): boolean {
    const end = performance.now() + LOOK_MS
    do {
      for (let look = 0; look < LOOKS_PER_CLOCK; look += 1) if (this.wakes !== wakes) return true
    } while (performance.now() < end)
    return false
  }

  private large(number: number): string | undefined {
    for (;;) {
      const received = receiveMessageOnPort(this.port)
      if (received === undefined) return undefined
      const { message } = received
      if (message.type === 'large' && message.number === number) return message.text
    }
  }
}
