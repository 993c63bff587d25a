// The recent output of a running command as one text, both streams in order of arrival, for readers that come back with a cursor.
// What is held is bounded; how output is kept for the result is not decided here.
import { isAscii } from 'node:buffer'
import { StringDecoder } from 'node:string_decoder'
import type { ShellOutputSlice, ShellStream } from '../types.ts'

/** UTF-16 units that are held at least; at most one chunk more. */
export const HELD_UNITS = 128 * 1024

/** Below this a chunk joins the entry before it, so that one-byte writes do not cost an entry each. */
const SMALL = 4096
const JOINED_UNITS = 16 * 1024

/** ASCII stays bytes until somebody reads: a unit is a byte then, and decoding all of a flood would cost more than reading it. */
interface Entry {
  content: string | Buffer
  units: number
}

export class LiveLog {
  readonly #decoders: Record<ShellStream, { decoder: StringDecoder; pending: boolean }> = {
    stdout: { decoder: new StringDecoder('utf8'), pending: false },
    stderr: { decoder: new StringDecoder('utf8'), pending: false },
  }
  #entries: Entry[] = []
  /** Where the first held entry begins, and where the last ends. */
  #start = 0
  #end = 0

  /** Takes a chunk over: the caller must not write into it afterwards. Gives its text when `decode` asks for it. */
  push(stream: ShellStream, chunk: Buffer, decode: boolean): string {
    const state = this.#decoders[stream]
    if (!decode && chunk.length >= SMALL && !state.pending && isAscii(chunk)) {
      this.#append({ content: chunk, units: chunk.length })
      return ''
    }
    const text = state.decoder.write(chunk)
    state.pending = chunk.length > 0 && chunk[chunk.length - 1]! >= 0x80
    this.#appendText(text)
    return text
  }

  /** Nothing more comes on `stream`: a code point that was never completed is told as U+FFFD. */
  end(stream: ShellStream): string {
    const text = this.#decoders[stream].decoder.end()
    this.#decoders[stream].pending = false
    this.#appendText(text)
    return text
  }

  /** Text from `cursor` on, at most `maxChars` units; surrogate pairs stay whole, be it by one unit more. */
  read(cursor: number, maxChars = Number.POSITIVE_INFINITY): ShellOutputSlice {
    const wanted = Number.isNaN(cursor) ? 0 : Math.min(Math.max(0, Math.trunc(cursor)), this.#end)
    const from = Math.max(wanted, this.#start)
    const most = Number.isNaN(maxChars) ? 0 : Math.max(0, Math.trunc(maxChars))
    const text = wholePairs(this.#slice(from, most + 1), most)
    return { text, cursor: from + text.length, lost: from - wanted }
  }

  /** At most `most` units from `from` on. */
  #slice(from: number, most: number): string {
    const parts: string[] = []
    let at = this.#start
    let left = most
    for (const { content, units } of this.#entries) {
      const skip = Math.max(0, from - at)
      at += units
      if (skip >= units) continue
      const end = Math.min(units, skip + left)
      parts.push(typeof content === 'string' ? content.slice(skip, end) : content.toString('latin1', skip, end))
      left -= end - skip
      if (left <= 0) break
    }
    return parts.join('')
  }

  #appendText(text: string): void {
    if (text === '') return
    const last = this.#entries.at(-1)
    if (last !== undefined && typeof last.content === 'string' && text.length < SMALL && last.units < JOINED_UNITS) {
      last.content += text
      last.units += text.length
      this.#end += text.length
    } else {
      this.#append({ content: text, units: text.length })
    }
  }

  #append(entry: Entry): void {
    this.#entries.push(entry)
    this.#end += entry.units
    let drop = 0
    let first = this.#entries[0]
    while (first !== undefined && this.#end - this.#start - first.units >= HELD_UNITS) {
      this.#start += first.units
      first = this.#entries[++drop]
    }
    if (drop > 0) this.#entries = this.#entries.slice(drop)
  }
}

/** The first `most` units of `text`; a pair that the cut would halve stays out, or comes in when there is nothing else. */
function wholePairs(text: string, most: number): string {
  if (text.length <= most || most === 0) return most === 0 ? '' : text
  const cut = isHighSurrogate(text.charCodeAt(most - 1)) ? most - 1 : most
  return text.slice(0, cut === 0 ? 2 : cut)
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff
}
