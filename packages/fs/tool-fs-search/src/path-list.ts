// Names that end with a NUL each, from pieces of any size, as bytes: most are only counted, and a string each would cost more than they do.

/** No file system has longer ones; what is longer is no name. */
const MAX_PENDING = 1024 * 1024

export class PathList {
  count = 0
  /** Bytes of a name that did not end in the pieces so far. */
  private pending: Buffer = Buffer.alloc(0)
  private readonly take: (bytes: Buffer, start: number, end: number) => void

  /** `take` gets a name as bytes that are valid during the call. */
  constructor(take: (bytes: Buffer, start: number, end: number) => void) {
    this.take = take
  }

  read(chunk: Buffer): void {
    const bytes = this.pending.length === 0 ? chunk : Buffer.concat([this.pending, chunk])
    let start = 0
    let count = 0
    for (let at = bytes.indexOf(0, this.pending.length); at !== -1; at = bytes.indexOf(0, start)) {
      this.take(bytes, start, at)
      start = at + 1
      count++
    }
    this.count += count
    this.pending = bytes.subarray(start, start + MAX_PENDING)
  }

  /** What followed the last NUL. */
  get rest(): string {
    return this.pending.toString('latin1')
  }
}
