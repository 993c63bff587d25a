// Live output for hosts: merges what arrives within a moment, and bounds it, so that a chatty command floods nobody.
import type { ToolProgress } from '@deepseek-ai/dsh-tools'

const FLUSH_MS = 50

/** Characters a flush carries at most; the rest is only in the result. */
const MAX_FLUSH = 65_536

interface Piece {
  stream: 'stdout' | 'stderr'
  text: string
  /** Characters dropped from the front. */
  dropped: number
}

export class LiveOutput {
  readonly #report: (progress: ToolProgress) => void
  #pieces: Piece[] = []
  #timer: NodeJS.Timeout | undefined

  constructor(report: (progress: ToolProgress) => void) {
    this.#report = report
  }

  push(stream: Piece['stream'], text: string): void {
    const last = this.#pieces.at(-1)
    const piece = last?.stream === stream ? last : { stream, text: '', dropped: 0 }
    if (piece !== last) this.#pieces.push(piece)
    piece.text += text
    // Twice the limit before each cut, so that cutting costs no more than the text itself.
    if (piece.text.length > MAX_FLUSH * 2) shorten(piece)
    this.#timer ??= setTimeout(() => this.flush(), FLUSH_MS)
  }

  /** Reports what is pending, and stops the timer. */
  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const pieces = this.#pieces
    this.#pieces = []
    for (const piece of pieces) {
      shorten(piece)
      const gap = piece.dropped === 0 ? '' : `[${piece.dropped} characters not shown live]\n`
      this.#report({ kind: 'text', stream: piece.stream, text: gap + piece.text })
    }
  }
}

function shorten(piece: Piece): void {
  let drop = piece.text.length - MAX_FLUSH
  if (drop <= 0) return
  // Not between the two halves of a surrogate pair.
  const unit = piece.text.charCodeAt(drop)
  if (unit >= 0xdc00 && unit <= 0xdfff) drop++
  piece.dropped += drop
  piece.text = piece.text.slice(drop)
}
