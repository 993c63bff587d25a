// A drawing against the screen it was made of: another terminal that draws it looks the same, and goes on the same.
import { it as test, describe, expect, it } from 'vitest'
import fc from 'fast-check'
import { DrawingState, drawingOf } from '../src/snapshot.ts'
import { emulator, fed, seen, type Emulator } from './emulator.ts'

interface Drawn {
  readonly screen: Emulator
  readonly drawing: () => string
}

function drawn(cols = 12, rows = 5): Drawn {
  const screen = emulator(cols, rows)
  const state = new DrawingState(screen)
  return { screen, drawing: () => drawingOf(screen, state) }
}

function copyOf({ screen, drawing }: Drawn): Emulator {
  const copy = emulator(screen.cols, screen.rows)
  fed(copy, 'leftovers of another terminal\r\n\x1b[41m\x1b[?1049h\x1b[2;3r')
  fed(copy, drawing())
  return copy
}

describe('the drawing of a screen', () => {
  test.each([
    ['colours of every kind', '\x1b[31mred\x1b[92mgreen\x1b[38;5;200mp\x1b[48;2;1;2;3mt\x1b[0m plain'],
    ['styles', '\x1b[1mb\x1b[2md\x1b[3mi\x1b[4mu\x1b[7mr\x1b[9ms\x1b[53mo'],
    ['erased cells that keep a background', '\x1b[44mab\x1b[K\r\n\x1b[0mx'],
    ['wide and combined characters', '漢字 é 👩‍💻 漢漢漢漢漢漢'],
    ['a line over several rows', 'x'.repeat(30)],
    ['a cursor behind the last column', 'x'.repeat(12)],
    ['a cursor behind a wide character in the last column', '漢'.repeat(6)],
    ['a screen that has scrolled', Array.from({ length: 20 }, (_, line) => `line ${line}`).join('\r\n')],
    ['a cursor above what was printed', 'a\r\nb\r\nc\x1b[1;2H'],
    ['a program that has the whole screen', 'shell\x1b[?1049h\x1b[2J\x1b[3;3H\x1b[32mfull'],
    ['a screen that was given back', 'shell\x1b[?1049hfull\x1b[?1049l more'],
    ['modes', '\x1b[?1h\x1b[?2004h\x1b[?25l\x1b[?1002h\x1b[?1006h\x1b=\x1b[4h'],
    ['a scroll region', '1\r\n2\r\n3\r\n4\r\n5\x1b[2;4r\x1b[4;1H'],
  ])('has %s', (_what, data) => {
    const original = drawn()
    fed(original.screen, data)
    const copy = copyOf(original)
    expect(seen(copy)).toEqual(seen(original.screen))
  })

  it('keeps the lines above the screen, and which rows are one line', () => {
    const original = drawn()
    fed(original.screen, `${'long '.repeat(6)}\r\n${Array.from({ length: 9 }, (_, line) => line).join('\r\n')}`)
    const copy = copyOf(original)
    const { normal } = copy.buffer
    expect(normal.baseY).toBe(original.screen.buffer.normal.baseY)
    expect([0, 1, 2, 3].map((row) => normal.getLine(row)!.isWrapped)).toEqual([false, true, true, false])
  })

  it('brings along the screen below a program that has all of it', () => {
    const original = drawn()
    fed(original.screen, 'below\x1b[?1049h\x1b[Hfull')
    const copy = copyOf(original)
    fed(copy, '\x1b[?1049l')
    expect(copy.buffer.active.getLine(0)!.translateToString(true)).toBe('below')
    expect(copy.buffer.active.cursorX).toBe(5)
  })

  it('lets the other terminal go on with the same pen', () => {
    const original = drawn()
    fed(original.screen, '\x1b[1;31m\x1b[4:3mred ')
    const copy = copyOf(original)
    for (const each of [original.screen, copy]) fed(each, 'more')
    expect(seen(copy)).toEqual(seen(original.screen))
  })

  const sequence = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom('a', 'bc ', '漢', 'é', 'x'.repeat(13), '\r\n', '\r', '\b', '\t') },
    fc.constantFrom('\x1b[0m', '\x1b[m', '\x1b[1m', '\x1b[31m', '\x1b[48;5;30m', '\x1b[38;2;9;8;7m', '\x1b[7m'),
    fc.constantFrom('\x1b[K', '\x1b[1K', '\x1b[J', '\x1b[2J', '\x1b[3J', '\x1b[2X', '\x1b[2P', '\x1b[2@'),
    fc.constantFrom(
      '\x1b[H',
      '\x1b[3;4H',
      '\x1b[A',
      '\x1b[2B',
      '\x1b[C',
      '\x1b[D',
      '\x1b[9G',
      '\x1bM',
      '\x1b[L',
      '\x1b[M',
    ),
    fc.constantFrom(
      '\x1b[?1049h',
      '\x1b[?1049l',
      '\x1b[2;4r',
      '\x1b[r',
      '\x1b[?7l',
      '\x1b[?7h',
      '\x1b[4h',
      '\x1b[4l',
      '\x1bc',
    ),
  )

  it('looks and goes on the same for whatever was printed', { timeout: 60_000 }, () => {
    const text = fc.array(sequence, { maxLength: 40 }).map((parts) => parts.join(''))
    fc.assert(
      fc.property(text, text, (before, after) => {
        const original = drawn()
        fed(original.screen, before)
        const copy = copyOf(original)
        expect(seen(copy)).toEqual(seen(original.screen))
        for (const each of [original.screen, copy]) fed(each, after)
        expect(seen(copy)).toEqual(seen(original.screen))
      }),
      { numRuns: 200 },
    )
  })
})
