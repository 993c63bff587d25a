// Cuts a byte stream into lines at LF only: U+2028 inside a text is part of it. Holds one unfinished line at most.

export interface Line {
  /** Position of the first byte in the stream. */
  readonly offset: number
  /** Without its LF. Valid until the next chunk is pushed. */
  readonly bytes: Buffer
}

const LF = 0x0a

export class LineSplitter {
  private carry: Buffer[] = []
  private carried = 0
  private position: number

  constructor(offset = 0) {
    this.position = offset
  }

  /** Whole lines completed by `chunk`, which may be reused afterwards. */
  *push(chunk: Buffer): Generator<Line, void, void> {
    let start = 0
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
      const rest = chunk.subarray(start, end)
      const bytes = this.carried === 0 ? rest : Buffer.concat([...this.carry, rest])
      const offset = this.position
      this.position += bytes.length + 1
      this.carry = []
      this.carried = 0
      start = end + 1
      yield { offset, bytes }
    }
    if (start === chunk.length) return
    // A copy: the caller reads the next chunk into the same buffer.
    this.carry.push(Buffer.from(chunk.subarray(start)))
    this.carried += chunk.length - start
  }

  /** What follows the last LF so far. */
  rest(): Line {
    return { offset: this.position, bytes: Buffer.concat(this.carry) }
  }
}
