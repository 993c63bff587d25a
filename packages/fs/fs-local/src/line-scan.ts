// Goes through a file's bytes chunk by chunk: where lines end, which endings there are, whether it is UTF-8 throughout. Holds no more than the
// lines that are wanted, and of a line of gigabytes its beginning.
import { isUtf8 } from 'node:buffer'
import { utf8CompleteLength } from '@deepseek-ai/cordis'
import type { FsLines } from '@deepseek-ai/dsh-fs'
import { decodeKnown, type Encoding } from './encoding.ts'
import { EndingKinds, countLineEndings } from './line-endings.ts'
import { LineWindow, type LineLimits, type ShownLine } from './line-window.ts'

export type { LineLimits } from './line-window.ts'

const LF = 0x0a
const CR = 0x0d
/** Of a line that is wanted; more when more may be shown. */
const MOST_HELD = 64 * 1024

export class LineScan {
  readonly #window: LineWindow
  readonly #encoding: Encoding
  readonly #mostHeld: number
  readonly #kinds = new EndingKinds()
  /** Of the line that goes on. */
  #held: Buffer[] = []
  #heldBytes = 0
  #lineBytes = 0
  /** The last byte so far was a CR, whose line is told already. */
  #afterCr = false
  /** The last byte so far ends a line. */
  #endsLine = false
  /** The beginning of a character that ends in the next chunk. */
  #halfCharacter: Buffer = Buffer.alloc(0)

  constructor(limits: LineLimits, encoding: Encoding) {
    this.#window = new LineWindow(limits)
    this.#encoding = encoding
    this.#mostHeld = Math.max(MOST_HELD, limits.maxLineLength * 4)
  }

  get done(): boolean {
    return this.#window.full
  }

  /** False when the bytes are not in the encoding: nothing that was found is to be used. The chunk may change afterwards. */
  push(chunk: Buffer): boolean {
    if (!this.#isEncoded(chunk)) return false
    if (chunk.length === 0) return true
    const last = chunk.at(-1)
    this.#endsLine = last === LF || last === CR
    let from = 0
    if (this.#afterCr) {
      this.#kinds.add(chunk[0] === LF ? 'crlf' : 'cr')
      if (chunk[0] === LF) from = 1
      this.#afterCr = false
    }
    if (!this.#skips(chunk, from)) this.#split(chunk, from)
    return true
  }

  /** False as for `push`. */
  end(): boolean {
    if (this.#afterCr) this.#kinds.add('cr')
    if (this.#lineBytes > 0) this.#line(Buffer.alloc(0))
    return this.#halfCharacter.length === 0
  }

  result(bytes: number, mode: number, complete: boolean): Omit<FsLines, 'version'> {
    const { lines, number: totalLines, cut } = this.#window
    const { name: encoding, bom } = this.#encoding
    const finalNewline = complete && this.#endsLine
    return {
      lines,
      totalLines,
      complete,
      cut,
      fingerprint: { bytes, encoding, bom, eol: this.#kinds.eol, finalNewline, mode },
    }
  }

  #isEncoded(chunk: Buffer): boolean {
    if (this.#encoding.name === 'bytes') return true
    const bytes = this.#halfCharacter.length === 0 ? chunk : Buffer.concat([this.#halfCharacter, chunk])
    const complete = utf8CompleteLength(bytes)
    this.#halfCharacter = Buffer.from(bytes.subarray(complete))
    return isUtf8(bytes.subarray(0, complete))
  }

  /** Lines that nobody wants are counted at once. A carriage return asks for a closer look. */
  #skips(chunk: Buffer, from: number): boolean {
    const last = chunk.lastIndexOf(LF)
    if (last < from || chunk.includes(CR)) return false
    const count = countLineEndings(chunk, from)
    if (count >= this.#window.unseen) return false
    this.#kinds.add('lf')
    this.#window.number += count
    this.#start()
    this.#hold(chunk.subarray(last + 1))
    return true
  }

  #split(chunk: Buffer, begin: number): void {
    let from = begin
    let cr = chunk.indexOf(CR, from)
    while (from < chunk.length) {
      const lf = chunk.indexOf(LF, from)
      if (cr >= 0 && cr < from) cr = chunk.indexOf(CR, from)
      const at = cr >= 0 && (lf < 0 || cr < lf) ? cr : lf
      if (at < 0) return this.#hold(chunk.subarray(from))
      this.#line(chunk.subarray(from, at))
      from = at + 1
      if (at === lf) this.#kinds.add('lf')
      else if (from === chunk.length) this.#afterCr = true
      else if (chunk[from] !== LF) this.#kinds.add('cr')
      else {
        this.#kinds.add('crlf')
        from++
      }
    }
  }

  #hold(rest: Buffer): void {
    if (this.#window.wantsNext && this.#heldBytes < this.#mostHeld) {
      // A copy: the chunk is used again.
      const part = Buffer.from(rest.subarray(0, this.#mostHeld - this.#heldBytes))
      this.#held.push(part)
      this.#heldBytes += part.length
    }
    this.#lineBytes += rest.length
  }

  #start(): void {
    this.#held = []
    this.#heldBytes = 0
    this.#lineBytes = 0
  }

  #line(end: Buffer): void {
    const length = this.#lineBytes + end.length
    const held = this.#held
    const isWhole = this.#heldBytes === this.#lineBytes
    this.#start()
    this.#window.take(() => this.#shown(isWhole ? [...held, end] : held, length))
  }

  #shown(parts: readonly Buffer[], length: number): ShownLine {
    const bytes = parts.length === 1 ? parts[0]! : Buffer.concat(parts)
    if (bytes.length <= this.#mostHeld && bytes.length === length) {
      const text = decodeKnown(bytes, this.#encoding)
      return { text, length: text.length, unit: 'characters' }
    }
    const head = bytes.subarray(0, this.#mostHeld)
    const complete = this.#encoding.name === 'bytes' ? head : head.subarray(0, utf8CompleteLength(head))
    return { text: decodeKnown(complete, this.#encoding), length, unit: 'bytes' }
  }
}
