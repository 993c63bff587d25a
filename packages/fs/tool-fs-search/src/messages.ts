// ripgrep's JSON messages, one a line, from pieces of any size. A message about a very long line is kept in its head and its facts only.

/** Of one message that is kept whole. */
const MAX_BYTES = 1024 * 1024
/** Kept of the facts behind a line that was too long. */
const FACTS_BYTES = 8192
/**
 * Between the text of a line and its facts. Cannot be part of the text, where each quote has a backslash before it.
 * A match's text never comes before it either.
 */
const MARK = Buffer.from('},"line_number":')

const NEWLINE = 10

export interface Message {
  /** The whole message, or its first part. */
  readonly bytes: Buffer
  /** Set when the line was too long: what follows its text, from the line's number on, as far as kept. */
  readonly facts?: string
}

export class Messages {
  private pending: Buffer[] = []
  private pendingBytes = 0
  private long: LongMessage | undefined

  /** Calls back for each message that ends in the piece; stops and returns true as soon as it is told to. */
  read(chunk: Buffer, take: (message: Message) => boolean): boolean {
    for (let at = 0; at < chunk.length;) {
      const newline = chunk.indexOf(NEWLINE, at)
      const end = newline === -1 ? chunk.length : newline
      const message = this.grow(chunk.subarray(at, end), newline !== -1)
      if (message !== undefined && take(message)) return true
      at = end + 1
    }
    return false
  }

  private grow(piece: Buffer, ended: boolean): Message | undefined {
    if (this.long === undefined && this.pendingBytes + piece.length > MAX_BYTES) {
      this.long = new LongMessage(Buffer.concat(this.pending))
      this.pending = []
    }
    if (this.long !== undefined) this.long.add(piece)
    else if (ended && this.pending.length === 0) return { bytes: piece }
    else this.pending.push(piece)
    this.pendingBytes += piece.length
    if (!ended) return undefined
    const message = this.long?.message() ?? { bytes: Buffer.concat(this.pending) }
    this.long = undefined
    this.pending = []
    this.pendingBytes = 0
    return message
  }
}

class LongMessage {
  private readonly head: Buffer[]
  private headBytes: number
  private facts: string | undefined
  /** The end of what was looked at, in which the mark may have begun. */
  private seam: Buffer = Buffer.alloc(0)

  constructor(begun: Buffer) {
    this.head = []
    this.headBytes = 0
    this.add(begun)
  }

  add(piece: Buffer): void {
    const room = Math.min(piece.length, MAX_BYTES - this.headBytes)
    if (room > 0) {
      this.head.push(piece.subarray(0, room))
      this.headBytes += room
    }
    if (this.facts !== undefined) {
      this.facts += piece.toString('latin1', 0, Math.max(0, FACTS_BYTES - this.facts.length))
      return
    }
    const joined = Buffer.concat([this.seam, piece])
    const mark = joined.indexOf(MARK)
    if (mark === -1) {
      this.seam = joined.subarray(Math.max(0, joined.length - MARK.length + 1))
      return
    }
    const from = mark + MARK.length
    this.facts = joined.toString('latin1', from, from + FACTS_BYTES)
  }

  message(): Message {
    return { bytes: Buffer.concat(this.head), facts: this.facts ?? '' }
  }
}
