// Draws a screen again: escape sequences that bring another terminal of the same size to the same cells, cursor, modes and pen, so that it can go on
// with what is printed next. Not restored: the cursor that a program saved, character sets and tab stops.
import type { IBuffer, IBufferCell, IBufferLine, Terminal as Emulator } from '@xterm/headless'

/** Lines above the screen that are drawn along. */
const HISTORY_LINES = 1000
/** Distinct settings of the pen since it was reset that are remembered. */
const MOST_PEN_SETTINGS = 64

/** Private modes that change how a terminal draws or what it sends, with what they are after a reset. */
const MODES: ReadonlyMap<number, boolean> = new Map([
  [1, false], // cursor keys
  [7, true], // wrap
  [9, false], // mouse
  [25, true], // cursor shown
  [45, false], // wrap backwards
  [1000, false], // mouse
  [1002, false],
  [1003, false],
  [1004, false], // focus
  [1006, false], // mouse positions
  [1016, false],
  [2004, false], // bracketed paste
])

type Params = readonly (number | number[])[]

/** What a terminal remembers besides its cells and does not tell. */
export class DrawingState {
  readonly modes = new Map<number, boolean>()
  pen: readonly string[] = []
  /** What a program that gives the screen back, or goes back to a cursor that it saved, writes with. */
  readonly savedPens: Record<IBuffer['type'], readonly string[]> = { normal: [], alternate: [] }
  /** Scroll region as it was set; empty: the whole screen. */
  region = ''

  readonly #buffers: Emulator['buffer']

  constructor({ parser, buffer }: Emulator) {
    this.#buffers = buffer
    // Each only looks on: false hands the sequence to the emulator.
    parser.registerCsiHandler({ final: 'm' }, (params) => this.#onPen(params))
    parser.registerCsiHandler({ final: 'r' }, (params) => {
      this.region = written(params)
      return false
    })
    parser.registerCsiHandler({ prefix: '?', final: 'h' }, (params) => this.#onMode(params, true))
    parser.registerCsiHandler({ prefix: '?', final: 'l' }, (params) => this.#onMode(params, false))
    parser.registerCsiHandler({ intermediates: '!', final: 'p' }, () => this.#reset())
    parser.registerEscHandler({ final: 'c' }, () => this.#reset())
    parser.registerEscHandler({ final: '7' }, () => this.#savePen())
    parser.registerEscHandler({ final: '8' }, () => this.#restorePen(this.#buffers.active.type))
    parser.registerCsiHandler({ final: 's' }, () => this.#savePen())
    parser.registerCsiHandler({ final: 'u' }, () => this.#restorePen(this.#buffers.active.type))
  }

  /** A terminal forgets its scroll region then. */
  resized(): void {
    this.region = ''
  }

  #onPen(params: Params): boolean {
    const setting = written(params)
    if (params.length === 0 || params[0] === 0) this.pen = []
    if (setting !== '' && setting !== '0') {
      this.pen = [...this.pen.filter((each) => each !== setting), setting].slice(-MOST_PEN_SETTINGS)
    }
    return false
  }

  #onMode(params: Params, on: boolean): boolean {
    for (const mode of params) {
      if (typeof mode !== 'number') continue
      if (MODES.has(mode)) this.modes.set(mode, on)
      if (mode !== 1048 && mode !== 1049) continue
      if (on) this.#savePen()
      else this.#restorePen(mode === 1049 ? 'normal' : this.#buffers.active.type)
    }
    return false
  }

  #savePen(): boolean {
    this.savedPens[this.#buffers.active.type] = this.pen
    return false
  }

  #restorePen(buffer: IBuffer['type']): boolean {
    this.pen = this.savedPens[buffer]
    return false
  }

  #reset(): boolean {
    this.modes.clear()
    this.pen = []
    this.savedPens.normal = []
    this.savedPens.alternate = []
    this.region = ''
    return false
  }
}

export function drawingOf(emulator: Emulator, state: DrawingState): string {
  const { normal, active } = emulator.buffer
  const parts = ['\x1bc', history(normal, emulator.rows), cursor(normal, emulator)]
  if (active.type === 'alternate') {
    parts.push(
      settings(state.savedPens.normal),
      '\x1b[?1049h\x1b[0m',
      screen(active, emulator.rows),
      cursor(active, emulator),
    )
  }
  // Setting a region moves the cursor, and so does nothing after it.
  if (state.region !== '') parts.push(`\x1b[${state.region}r`, cursor(active, emulator))
  for (const [mode, on] of state.modes) if (MODES.get(mode) !== on) parts.push(`\x1b[?${mode}${on ? 'h' : 'l'}`)
  if (emulator.modes.insertMode) parts.push('\x1b[4h')
  if (emulator.modes.applicationKeypadMode) parts.push('\x1b=')
  parts.push('\x1b[0m', settings(state.pen))
  return parts.join('')
}

function settings(pen: readonly string[]): string {
  return pen.map((setting) => `\x1b[${setting}m`).join('')
}

/** Kept lines and the screen, in one flow, so that the other terminal keeps lines as well and knows which ones belong together. */
function history(buffer: IBuffer, rows: number): string {
  const end = buffer.baseY + rows
  let from = Math.max(0, buffer.baseY - HISTORY_LINES)
  while (from > 0 && buffer.getLine(from)?.isWrapped === true) from--
  let text = ''
  for (let row = from; row < end; row++) {
    const line = buffer.getLine(row)
    if (line === undefined) break
    const goesOn = row + 1 < end && buffer.getLine(row + 1)?.isWrapped === true
    if (row > from && !line.isWrapped) text += '\r\n'
    text += drawn(line, goesOn, line.isWrapped && row > from)
  }
  return text
}

function screen(buffer: IBuffer, rows: number): string {
  let text = ''
  for (let row = 0; row < rows; row++) {
    const line = buffer.getLine(row)
    if (line !== undefined) text += `\x1b[${row + 1};1H${drawn(line, false, false)}`
  }
  return text
}

function cursor(buffer: IBuffer, { cols }: Emulator): string {
  const { cursorX, cursorY } = buffer
  if (cursorX < cols) return `\x1b[${cursorY + 1};${cursorX + 1}H`
  // It stands behind the last column and wraps with the next character: only a character brings it there.
  const line = buffer.getLine(buffer.baseY + cursorY)
  const last = line?.getCell(cols - 1)?.getWidth() === 0 ? cols - 2 : cols - 1
  const cell = line?.getCell(last)
  const text = cell === undefined ? '' : `${penOf(cell)}${cell.getChars() || ' '}\x1b[0m`
  return `\x1b[${cursorY + 1};${last + 1}H${text}`
}

/** `full`: to the last column, so that the next row is a continuation; `continued`: at least one cell, which makes it one. */
function drawn(line: IBufferLine, full: boolean, continued: boolean): string {
  const end = full ? line.length : Math.max(contentEnd(line), continued ? 1 : 0)
  let text = ''
  let pen = ''
  for (let column = 0; column < end; column++) {
    const cell = line.getCell(column)
    if (cell === undefined || cell.getWidth() === 0) continue
    const next = penOf(cell)
    if (next !== pen) text += next === '' ? '\x1b[0m' : next
    pen = next
    text += cell.getChars() || ' '
  }
  return pen === '' ? text : `${text}\x1b[0m`
}

function contentEnd(line: IBufferLine): number {
  for (let column = line.length - 1; column >= 0; column--) {
    const cell = line.getCell(column)
    if (cell !== undefined && (cell.getChars() !== '' || penOf(cell) !== ''))
      return column + Math.max(1, cell.getWidth())
  }
  return 0
}

/** The sequence that sets exactly the pen of a cell; empty for the default one. */
function penOf(cell: IBufferCell): string {
  if (cell.isAttributeDefault()) return ''
  const settings = [0, ...color(cell, 'fg'), ...color(cell, 'bg')]
  if (cell.isBold()) settings.push(1)
  if (cell.isDim()) settings.push(2)
  if (cell.isItalic()) settings.push(3)
  if (cell.isUnderline()) settings.push(4)
  if (cell.isBlink()) settings.push(5)
  if (cell.isInverse()) settings.push(7)
  if (cell.isInvisible()) settings.push(8)
  if (cell.isStrikethrough()) settings.push(9)
  if (cell.isOverline()) settings.push(53)
  return settings.length === 1 ? '' : `\x1b[${settings.join(';')}m`
}

function color(cell: IBufferCell, side: 'fg' | 'bg'): number[] {
  const foreground = side === 'fg'
  if (foreground ? cell.isFgDefault() : cell.isBgDefault()) return []
  const value = foreground ? cell.getFgColor() : cell.getBgColor()
  const start = foreground ? 30 : 40
  if (foreground ? cell.isFgRGB() : cell.isBgRGB()) {
    return [start + 8, 2, (value >> 16) & 255, (value >> 8) & 255, value & 255]
  }
  if (value < 8) return [start + value]
  return value < 16 ? [start + 60 + value - 8] : [start + 8, 5, value]
}

/** Parameters as a program writes them: sub-parameters behind colons. */
function written(params: Params): string {
  let text = ''
  for (const each of params) {
    if (typeof each === 'number') text += `${text === '' ? '' : ';'}${each}`
    else text += each.map((sub) => `:${sub < 0 ? '' : sub}`).join('')
  }
  return text
}
