// A screen as plain text: all of it, or what was printed since a moment. Redrawn lines are as they were drawn last.
import type { IBuffer, IMarker, Terminal as Emulator } from '@xterm/headless'

/** Where the text since a moment begins. Markers move with their line and are disposed of with it. */
type Start =
  | { readonly kind: 'at'; readonly marker: IMarker; readonly column: number }
  | { readonly kind: 'after'; readonly marker: IMarker }
  | { readonly kind: 'top' }
  /** Below a program that has the whole screen: what is there keeps its place, but takes no marker. */
  | { readonly kind: 'below'; readonly row: number; readonly column: number }

export interface TranscriptText {
  readonly text: string
  /** Its beginning is no longer kept. */
  readonly truncated: boolean
}

export class Transcript {
  readonly #emulator: Emulator
  #start: Start = { kind: 'top' }

  constructor(emulator: Emulator) {
    this.#emulator = emulator
    const { parser } = emulator
    // Each only looks on: false hands the sequence to the emulator.
    const onMove = (params: (number | number[])[]): boolean => this.#onMove(first(params))
    parser.registerCsiHandler({ final: 'H' }, onMove)
    parser.registerCsiHandler({ final: 'f' }, onMove)
    parser.registerCsiHandler({ final: 'd' }, onMove)
    parser.registerCsiHandler({ final: 'J' }, (params) => {
      if (first(params) >= 2) this.#onRedraw()
      return false
    })
    parser.registerEscHandler({ final: 'c' }, () => {
      this.#begin({ kind: 'top' })
      return false
    })
    emulator.buffer.onBufferChange(() => this.#onScreenGiven())
  }

  /** No more lines fit: the oldest goes for each new one. */
  get isFull(): boolean {
    const { buffer, rows, options } = this.#emulator
    return buffer.normal.length >= rows + (options.scrollback ?? 0)
  }

  /** What is printed from now on is new. */
  begin(): void {
    const { normal, active } = this.#emulator.buffer
    const { cursorX: column, cursorY } = normal
    const marker = active.type === 'normal' ? this.#emulator.registerMarker(0) : undefined
    if (marker === undefined) this.#begin({ kind: 'below', row: normal.baseY + cursorY, column })
    else this.#begin({ kind: 'at', marker, column })
  }

  /** A program that has the whole screen: the screen as it is. */
  since(): TranscriptText {
    const { normal, active } = this.#emulator.buffer
    if (active.type === 'alternate') return { text: drawnText(linesOf(active, 0, lastRow(active))), truncated: false }
    const { row, column, truncated } = this.#origin()
    const lines = linesOf(normal, row, lastRow(normal), column)
    return { text: this.#start.kind === 'at' ? lines.join('\n') : drawnText(lines), truncated }
  }

  question(): string {
    const { active } = this.#emulator.buffer
    const at = active.baseY + active.cursorY
    const line = linesOf(active, firstRowOf(active, at), at).join('').trimEnd()
    if (line !== '' || at === 0) return line
    const above = linesOf(active, firstRowOf(active, at - 1), at - 1)
      .join('')
      .trimEnd()
    return /[:?]$/.test(above) ? above : ''
  }

  #origin(): { row: number; column: number; truncated: boolean } {
    const { normal } = this.#emulator.buffer
    const start = this.#start
    if (start.kind === 'top') return { row: 0, column: 0, truncated: this.isFull }
    if (start.kind === 'below') return { row: start.row, column: start.column, truncated: false }
    if (!start.marker.isDisposed) {
      const { line } = start.marker
      return start.kind === 'after'
        ? { row: line + 1, column: 0, truncated: false }
        : { row: line, column: start.column, truncated: false }
    }
    if (start.kind === 'after' || this.isFull) return { row: 0, column: 0, truncated: this.isFull }
    // Its line was deleted by the program: whatever is new is on the screen.
    return { row: normal.baseY, column: 0, truncated: false }
  }

  #onMove(row: number): boolean {
    const { active } = this.#emulator.buffer
    const start = this.#start
    if (active.type !== 'normal' || start.kind !== 'at' || start.marker.isDisposed) return false
    if (active.baseY + Math.max(0, row - 1) < start.marker.line) this.#beginAtScreen()
    return false
  }

  #onRedraw(): void {
    if (this.#emulator.buffer.active.type === 'normal') this.#beginAtScreen()
  }

  /** The program draws the screen anew: all of it counts. The mark is the line above, which no erasing of the screen takes away. */
  #beginAtScreen(): void {
    const { normal, active } = this.#emulator.buffer
    const offset = -1 - normal.cursorY
    const marker = active.type === 'normal' && normal.baseY > 0 ? this.#emulator.registerMarker(offset) : undefined
    this.#begin(marker === undefined ? { kind: 'top' } : { kind: 'after', marker })
  }

  /** The program that had the whole screen has given it back. */
  #onScreenGiven(): void {
    const start = this.#start
    const { normal, active } = this.#emulator.buffer
    if (start.kind !== 'below' || active.type !== 'normal') return
    const marker = this.#emulator.registerMarker(start.row - normal.baseY - normal.cursorY)
    if (marker !== undefined) this.#begin({ kind: 'at', marker, column: start.column })
  }

  #begin(start: Start): void {
    if ('marker' in this.#start) this.#start.marker.dispose()
    this.#start = start
  }
}

/** Every kept line, then those of a program that has the whole screen. */
export function textOfScreen({ buffer: { normal, active } }: Emulator): string[] {
  const lines = linesOf(normal, 0, lastRow(normal))
  return active.type === 'normal' ? lines : [...lines, ...linesOf(active, 0, lastRow(active))]
}

/** What the screen broke into rows for its width is one line again. */
function linesOf(buffer: IBuffer, from: number, to: number, fromColumn = 0): string[] {
  const lines: string[] = []
  for (let row = from; row <= to; row++) {
    const line = buffer.getLine(row)
    if (line === undefined) break
    const goesOn = row < to && buffer.getLine(row + 1)?.isWrapped === true
    let text = line.translateToString(!goesOn, row === from ? fromColumn : 0)
    // A wide character that did not fit left its cell empty.
    if (goesOn && line.getCell(line.length - 1)?.getCode() === 0) text = text.slice(0, -1)
    if (line.isWrapped && row > from) lines.push(`${lines.pop() ?? ''}${text}`)
    else lines.push(text)
  }
  return lines
}

/** The cursor's row, or the last one below it that is not blank. */
function lastRow(buffer: IBuffer): number {
  const cursor = buffer.baseY + buffer.cursorY
  for (let row = buffer.length - 1; row > cursor; row--) {
    if (buffer.getLine(row)?.translateToString(true) !== '') return row
  }
  return cursor
}

function firstRowOf(buffer: IBuffer, row: number): number {
  let at = row
  while (at > 0 && buffer.getLine(at)?.isWrapped === true) at--
  return at
}

/** A program that draws fills its lines up with blanks. */
function drawnText(lines: readonly string[]): string {
  return lines.map((line, at) => (at === lines.length - 1 ? line : line.trimEnd())).join('\n')
}

function first(params: readonly (number | number[])[]): number {
  const [value = 0] = params
  return typeof value === 'number' ? value : 0
}
