// Line endings in bytes: LF, CRLF and a lone CR each end a line, here as in the text. Counted without making a text of the file.
import type { FsFingerprint } from '@deepseek-ai/dsh-fs'

const LF = 0x0a
const CR = 0x0d

/** How many lines end within the range. A CRLF counts where its LF is. */
export function countLineEndings(bytes: Buffer, from = 0, to = bytes.length): number {
  const part = bytes.subarray(from, to)
  const count = countByte(part, LF)
  return part.includes(CR) ? count + countLoneCr(bytes, from, to) : count
}

function countLoneCr(bytes: Buffer, from: number, to: number): number {
  let count = 0
  for (let at = from; at < to; at++) if (bytes[at] === CR && bytes[at + 1] !== LF) count++
  return count
}

/** Four bytes at a time: half of the cost of a line number in a large file is this walk. */
function countByte(bytes: Buffer, byte: number): number {
  const head = Math.min(bytes.length, (4 - (bytes.byteOffset & 3)) & 3)
  const words = new Int32Array(bytes.buffer, bytes.byteOffset + head, (bytes.length - head) >> 2)
  const pattern = byte * 0x01010101
  let count = 0
  for (let at = 0; at < words.length; at++) {
    const differs = words[at]! ^ pattern
    // The top bit of each byte that is zero, and of no other.
    const zeros = ~(((differs & 0x7f7f7f7f) + 0x7f7f7f7f) | differs | 0x7f7f7f7f)
    if (zeros !== 0) count += ((zeros >>> 7) & 1) + ((zeros >>> 15) & 1) + ((zeros >>> 23) & 1) + (zeros >>> 31)
  }
  for (let at = 0; at < head; at++) if (bytes[at] === byte) count++
  for (let at = head + words.length * 4; at < bytes.length; at++) if (bytes[at] === byte) count++
  return count
}

/** The kinds that were seen, as a fingerprint tells them. */
export class EndingKinds {
  #lf = false
  #crlf = false
  #cr = false

  add(kind: 'lf' | 'crlf' | 'cr'): void {
    if (kind === 'lf') this.#lf = true
    else if (kind === 'crlf') this.#crlf = true
    else this.#cr = true
  }

  get eol(): FsFingerprint['eol'] {
    const kinds = [this.#lf, this.#crlf, this.#cr].filter(Boolean).length
    if (kinds > 1) return 'mixed'
    return this.#crlf ? 'crlf' : this.#cr ? 'cr' : this.#lf ? 'lf' : 'none'
  }
}

export function eolOfBytes(bytes: Buffer): FsFingerprint['eol'] {
  // The common case needs no walk: no carriage return anywhere.
  const first = bytes.indexOf(CR)
  if (first < 0) return bytes.includes(LF) ? 'lf' : 'none'
  const kinds = new EndingKinds()
  if (bytes.subarray(0, first).includes(LF)) kinds.add('lf')
  for (let at = first; at < bytes.length && kinds.eol !== 'mixed'; at++) {
    if (bytes[at] === LF) kinds.add('lf')
    else if (bytes[at] !== CR) continue
    else if (bytes[at + 1] !== LF) kinds.add('cr')
    else {
      kinds.add('crlf')
      at++
    }
  }
  return kinds.eol
}

/** Where the line that holds `at` begins. */
export function lineStart(bytes: Buffer, at: number, hasCr: boolean): number {
  if (at <= 0) return 0
  const lf = bytes.lastIndexOf(LF, at - 1)
  if (!hasCr) return lf + 1
  let cr = bytes.lastIndexOf(CR, at - 1)
  // A CR right before `at` whose LF is at `at`: in the middle of an ending, which is part of the line.
  if (cr === at - 1 && bytes[at] === LF) cr = cr === 0 ? -1 : bytes.lastIndexOf(CR, cr - 1)
  return Math.max(lf, cr) + 1
}

/** Behind the ending of the line that holds `at`. */
export function lineEnd(bytes: Buffer, at: number, hasCr: boolean): number {
  const lf = bytes.indexOf(LF, at)
  const end = lf < 0 ? bytes.length : lf + 1
  if (!hasCr) return end
  const cr = bytes.subarray(at, end).indexOf(CR)
  if (cr < 0) return end
  return bytes[at + cr + 1] === LF ? at + cr + 2 : at + cr + 1
}
