// The lines that were asked for, and the limits that end them.
import type { FsLines, LineRange } from '@deepseek-ai/dsh-fs'

export type LineLimits = Required<LineRange>

export interface ShownLine {
  /** At least as much as may be shown. */
  readonly text: string
  /** Of the whole line. */
  readonly length: number
  readonly unit: 'characters' | 'bytes'
}

export class LineWindow {
  readonly lines: FsLines['lines'][number][] = []
  /** A limit ended the lines before there were as many as wanted. */
  cut = false
  /** Lines that went by. */
  number = 0
  #bytes = 0
  readonly #limits: LineLimits

  constructor(limits: LineLimits) {
    this.#limits = limits
  }

  /** Nothing more is wanted. */
  get full(): boolean {
    const { offset, count } = this.#limits
    return this.cut || this.number >= offset + count - 1
  }

  /** Whether the next line is one that is wanted. */
  get wantsNext(): boolean {
    return this.number + 1 >= this.#limits.offset && !this.full
  }

  /** How many lines may go by unseen before one is wanted. */
  get unseen(): number {
    return this.full ? Number.POSITIVE_INFINITY : Math.max(0, this.#limits.offset - 1 - this.number)
  }

  take(read: () => ShownLine): void {
    const wanted = this.wantsNext
    this.number++
    if (!wanted) return
    const text = shortened(read(), this.#limits.maxLineLength)
    this.#bytes += Buffer.byteLength(text) + 1
    if (this.#bytes > this.#limits.maxBytes && this.lines.length > 0) this.cut = true
    else this.lines.push({ number: this.number, text })
  }
}

function shortened({ text, length, unit }: ShownLine, most: number): string {
  if (text.length <= most && (unit === 'bytes' ? text.length >= length : true)) return text
  const last = text.charCodeAt(most - 1)
  const end = last >= 0xd800 && last <= 0xdbff ? most - 1 : most
  return `${text.slice(0, end)} … [line has ${length} ${unit}]`
}
