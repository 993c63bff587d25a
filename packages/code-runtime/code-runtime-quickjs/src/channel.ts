// One direction between two threads: texts in order, in shared memory where they fit, else by what the threads have for large ones.
// Knows nothing of what the texts say, and wakes nobody.

const RING_BYTES = 64 * 1024
/** Words before the ring: how many texts were sent, and where the next is read and written. */
const SENT = 0
const HEAD = 1
const TAIL = 2
const WORDS_BYTES = 16
/** Before each text in the ring: its number and its length in bytes. */
const HEADER_BYTES = 8
/** In place of a number's length: the rest of the ring is unused, go on at its start. */
const SKIP = -1

export const CHANNEL_BYTES = WORDS_BYTES + RING_BYTES

const padded = (bytes: number): number => (bytes + 3) & ~3

class Ring {
  private readonly words: Int32Array
  private readonly headers: Int32Array
  private readonly bytes: Buffer

  constructor(shared: SharedArrayBuffer, offset: number) {
    this.words = new Int32Array(shared, offset, WORDS_BYTES / 4)
    this.headers = new Int32Array(shared, offset + WORDS_BYTES, RING_BYTES / 4)
    this.bytes = Buffer.from(shared, offset + WORDS_BYTES, RING_BYTES)
  }

  get sent(): number {
    return Atomics.load(this.words, SENT)
  }

  set sent(count: number) {
    Atomics.store(this.words, SENT, count)
  }

  /** False when there is no room. Note: the ring never fills to the last byte, since equal ends mean that it is empty. */
  put(number: number, text: string): boolean {
    const length = Buffer.byteLength(text)
    const size = HEADER_BYTES + padded(length)
    const head = Atomics.load(this.words, HEAD)
    let tail = Atomics.load(this.words, TAIL)
    const end = tail >= head ? RING_BYTES - (head === 0 ? 1 : 0) : head - 1
    if (tail + size > end) {
      if (tail < head || size >= head) return false
      this.headers[tail / 4] = SKIP
      tail = 0
    }
    this.headers[tail / 4] = length
    this.headers[tail / 4 + 1] = number
    this.bytes.write(text, tail + HEADER_BYTES)
    Atomics.store(this.words, TAIL, (tail + size) % RING_BYTES)
    return true
  }

  /** Undefined when the text of this number is not in the ring. */
  take(number: number): string | undefined {
    let head = Atomics.load(this.words, HEAD)
    if (head === Atomics.load(this.words, TAIL)) return undefined
    if (this.headers[head / 4] === SKIP) head = 0
    const length = this.headers[head / 4] ?? 0
    if (this.headers[head / 4 + 1] !== number) return undefined
    const start = head + HEADER_BYTES
    const text = this.bytes.toString('utf8', start, start + length)
    Atomics.store(this.words, HEAD, (start + padded(length)) % RING_BYTES)
    return text
  }

  clear(): void {
    Atomics.store(this.words, HEAD, Atomics.load(this.words, TAIL))
  }
}

export class Sender {
  private readonly ring: Ring
  private readonly sendLarge: (number: number, text: string) => void
  private number = 0

  /** `sendLarge`: hands over what does not fit, before it returns. */
  constructor(shared: SharedArrayBuffer, offset: number, sendLarge: (number: number, text: string) => void) {
    this.ring = new Ring(shared, offset)
    this.sendLarge = sendLarge
  }

  /** Texts sent so far. Counts in 32 bits and then starts over. */
  get sent(): number {
    return this.number
  }

  /** Note: a lone surrogate becomes U+FFFD on the way; JSON has none, since it is escaped there. */
  send(text: string): void {
    if (!this.ring.put(this.number, text)) this.sendLarge(this.number, text)
    this.number = (this.number + 1) | 0
    this.ring.sent = this.number
  }
}

export class Receiver {
  private readonly ring: Ring
  private readonly receiveLarge: (number: number) => string | undefined
  private expected = 0

  /** `receiveLarge`: what was handed over under a number. */
  constructor(shared: SharedArrayBuffer, offset: number, receiveLarge: (number: number) => string | undefined) {
    this.ring = new Ring(shared, offset)
    this.receiveLarge = receiveLarge
  }

  get hasNext(): boolean {
    return this.ring.sent !== this.expected
  }

  next(): string | undefined {
    if (!this.hasNext) return undefined
    const text = this.ring.take(this.expected) ?? this.receiveLarge(this.expected)
    if (text !== undefined) this.expected = (this.expected + 1) | 0
    return text
  }

  /** Forgets all texts before this number. Only while nobody sends. */
  skipTo(number: number): void {
    this.ring.clear()
    this.expected = number
  }
}
