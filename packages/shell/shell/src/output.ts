// Bounded retention of one output stream: counts every byte, keeps head and tail, cuts between code points, and hands
// everything to a file once it outgrows memory. Memory is proportional to the limit; a line of any length is only bytes here.
import { utf8CompleteLength, utf8ContinuationLength } from '@deepseek-ai/cordis'
import type { ShellOutput, ShellSpillFile } from './types.ts'

/** Small chunks are merged once there are this many, so that one-byte writes cost neither a list nor a copy each. */
const MERGE_AT = 64

interface Retained {
  chunks: Uint8Array[]
  bytes: number
}

/** Keeps the first and the last half of `maxBytes` of a stream. */
export class HeadTail {
  readonly #headLimit: number
  readonly #tailLimit: number
  readonly #head: Retained = { chunks: [], bytes: 0 }
  readonly #tail: Retained = { chunks: [], bytes: 0 }
  readonly #openSpill: (() => ShellSpillFile) | undefined
  #spill: ShellSpillFile | undefined
  #spillBroke = false
  #total = 0

  /** `maxBytes` is a positive integer. `openSpill` is asked once, when the stream outgrows it, and then gets every byte. */
  constructor(maxBytes: number, openSpill?: () => ShellSpillFile) {
    this.#headLimit = Math.ceil(maxBytes / 2)
    this.#tailLimit = maxBytes - this.#headLimit
    this.#openSpill = openSpill
  }

  get totalBytes(): number {
    return this.#total
  }

  /** Takes a chunk over: the caller must not write into it afterwards. */
  push(chunk: Uint8Array): void {
    const fitted = this.#total <= this.#limit
    this.#total += chunk.length
    if (this.#total > this.#limit) this.#spillOver(chunk, fitted)
    const room = this.#headLimit - this.#head.bytes
    if (room > 0) append(this.#head, chunk.length <= room ? chunk : copy(chunk.subarray(0, room)))
    if (chunk.length > room) this.#pushTail(room > 0 ? chunk.subarray(room) : chunk)
  }

  finish(): ShellOutput {
    if (this.#total === 0) return { text: '', truncated: false, totalBytes: 0 }
    const head = join(this.#head)
    const tail = join(this.#tail).subarray(-this.#tailLimit || this.#tail.bytes)
    const total = this.#total
    if (total <= this.#limit) {
      return { text: Buffer.concat([head, tail]).toString('utf8'), truncated: false, totalBytes: total }
    }
    const spilled = this.#finishSpill()
    const first = head.subarray(0, utf8CompleteLength(head))
    const last = tail.subarray(utf8ContinuationLength(tail))
    const missing = total - first.length - last.length
    const headText = first.toString('utf8')
    const gap = `${headText === '' || headText.endsWith('\n') ? '' : '\n'}[${missing} bytes omitted]\n`
    return { text: headText + gap + last.toString('utf8'), truncated: true, totalBytes: total, ...spilled }
  }

  get #limit(): number {
    return this.#headLimit + this.#tailLimit
  }

  /** `isFirst`: nothing has been dropped yet, so that head and tail together are all that came before. */
  #spillOver(chunk: Uint8Array, isFirst: boolean): void {
    try {
      if (isFirst) {
        this.#spill = this.#openSpill?.()
        for (const earlier of [...this.#head.chunks, ...this.#tail.chunks]) this.#spill?.write(earlier)
      }
      if (!this.#spillBroke) this.#spill?.write(chunk)
    } catch {
      // A file that throws against its contract must not take the host down: what it lacks is told.
      this.#spillBroke = true
    }
  }

  #finishSpill(): Pick<ShellOutput, 'spillPath' | 'spillIncomplete'> {
    if (this.#spill === undefined) return {}
    const { path } = this.#spill
    try {
      const { complete } = this.#spill.finish()
      return { spillPath: path, ...(complete && !this.#spillBroke ? {} : { spillIncomplete: true }) }
    } catch {
      return { spillPath: path, spillIncomplete: true } // broke its contract: the bytes so far are where it says
    }
  }

  #pushTail(chunk: Uint8Array): void {
    const tail = this.#tail
    // A chunk larger than the whole tail is copied down, so that a huge one is not kept alive for its end.
    append(tail, chunk.length > this.#tailLimit * 2 ? copy(chunk.subarray(-this.#tailLimit || chunk.length)) : chunk)
    let first = tail.chunks[0]
    while (first !== undefined && tail.bytes - first.length >= this.#tailLimit) {
      tail.bytes -= first.length
      tail.chunks.shift()
      first = tail.chunks[0]
    }
  }
}

function append(to: Retained, chunk: Uint8Array): void {
  to.chunks.push(chunk)
  to.bytes += chunk.length
  if (to.chunks.length >= MERGE_AT && to.bytes < to.chunks.length * 4096) to.chunks = [join(to)]
}

function join(retained: Retained): Buffer {
  return Buffer.concat(retained.chunks, retained.bytes)
}

function copy(chunk: Uint8Array): Uint8Array {
  return Uint8Array.prototype.slice.call(chunk)
}
