// A bare terminal emulator that tests feed and look at.
import type { Terminal as Emulator } from '@xterm/headless'
import headless from '@xterm/headless'

export type { Emulator }

export function emulator(cols: number, rows: number, scrollback = 100): Emulator {
  return new headless.Terminal({ cols, rows, scrollback, allowProposedApi: true, logLevel: 'off' })
}

/** At once, so that a failure of the emulator is one of the test. */
export function fed(terminal: Emulator, data: string): void {
  ;(terminal as unknown as { _core: { writeSync(data: string): void } })._core.writeSync(data)
}

/** Every cell as a person sees it, and where the cursor stands. */
export function seen(terminal: Emulator): unknown {
  const { active } = terminal.buffer
  const rows: unknown[] = []
  for (let row = 0; row < terminal.rows; row++) {
    const line = active.getLine(active.baseY + row)!
    const cells: unknown[] = []
    for (let column = 0; column < terminal.cols; column++) {
      const cell = line.getCell(column)!
      if (cell.getWidth() === 0) continue
      const colors = [cell.getFgColorMode(), cell.getFgColor(), cell.getBgColorMode(), cell.getBgColor()]
      const flags = [cell.isBold(), cell.isDim(), cell.isItalic(), cell.isUnderline(), cell.isInverse()]
      const more = [cell.isBlink(), cell.isInvisible(), cell.isStrikethrough(), cell.isOverline()]
      cells.push([cell.getChars() || ' ', ...colors, ...[...flags, ...more].map(Boolean)].join(' '))
    }
    rows.push(cells)
  }
  return { type: active.type, rows, cursor: [active.cursorX, active.cursorY], modes: terminal.modes }
}
