// The text of a screen: redrawn lines settle, broken ones are one again, and only what came since counts.
import { describe, expect, it } from 'vitest'
import fc from 'fast-check'
import { Transcript, textOfScreen } from '../src/transcript.ts'
import { emulator, fed } from './emulator.ts'

function since(before: string, after: string, size: { cols?: number; rows?: number; scrollback?: number } = {}) {
  const screen = emulator(size.cols ?? 20, size.rows ?? 6, size.scrollback ?? 50)
  const transcript = new Transcript(screen)
  fed(screen, before)
  transcript.begin()
  fed(screen, after)
  return { ...transcript.since(), screen, transcript }
}

describe('the text since a moment', () => {
  it.each([
    ['begins where the cursor stood', 'old\r\n$ ', 'ls\r\nfile\r\n$ ', 'ls\nfile\n$ '],
    ['has no escape sequences', '', '\x1b[31mred\x1b[0m \x1b]0;title\x07\x1b[?2004hend', 'red end'],
    ['keeps the last state of a progress bar', '$ ', '\r\n10%\r50%\r100%\r\ndone', '\n100%\ndone'],
    ['takes backspaces as they look', '', 'abd\b \bc', 'abc'],
    ['makes one line of what the screen has broken', '', `${'x'.repeat(45)}\r\nend`, `${'x'.repeat(45)}\nend`],
    ['keeps the blanks of a broken line', '', `${'a'.repeat(18)}    b`, `${'a'.repeat(18)}    b`],
    ['adds no blank where a wide character did not fit', '', `${'a'.repeat(19)}漢字`, `${'a'.repeat(19)}漢字`],
    ['is the new screen after a clear', 'old\r\n$ ', 'clear\r\n\x1b[H\x1b[2J\x1b[3J$ ', '$ '],
    ['is what stands on a screen that is drawn anew', 'old\r\n$ ', 'top\r\n\x1b[Hnew  \x1b[K\r\n\x1b[J', 'new\n'],
    ['is the screen of a program that has all of it', '$ ', 'vim\r\n\x1b[?1049h\x1b[2J\x1b[Htext   \r\n~', 'text\n~'],
    ['is what was printed below once that is given back', '$ ', 'less\r\n\x1b[?1049hpage\x1b[?1049l$ ', 'less\n$ '],
    ['begins below a program that has the screen', 'old\r\n$ x\r\n\x1b[?1049hpage', '\x1b[?1049lnew', 'new'],
    ['starts over with a reset', 'old', '\x1bcnew', 'new'],
    ['holds what a deleted line leaves', 'a\r\nb\r\nc', '\x1b[1;1H\x1b[3Mnew', 'new'],
  ])('%s', (_title, before, after, text) => {
    expect(since(before, after)).toMatchObject({ text, truncated: false })
  })

  it('survives the scrolling of what stood before', () => {
    const lines = Array.from({ length: 30 }, (_, line) => `line ${line}`)
    const { text, truncated } = since(`${lines.join('\r\n')}\r\n$ `, `go\r\n${lines.join('\r\n')}`)
    expect({ text, truncated }).toEqual({ text: `go\n${lines.join('\n')}`, truncated: false })
  })

  it('says when its beginning is no longer kept', () => {
    const lines = Array.from({ length: 90 }, (_, line) => `line ${line}`)
    const { text, truncated, screen } = since('$ ', `go\r\n${lines.join('\r\n')}`)
    expect(truncated).toBe(true)
    expect(text).toBe(lines.slice(90 - 56).join('\n'))
    expect(textOfScreen(screen)).toHaveLength(56)
  })

  it('starts anew each time', () => {
    const { screen, transcript } = since('', 'one\r\n')
    transcript.begin()
    fed(screen, 'two\r\n')
    expect(transcript.since().text).toBe('two\n')
  })

  it('is the text itself for plain lines of any length', () => {
    const line = fc.string({ unit: fc.constantFrom('a', ' ', '漢', 'é', '-', 'B'), maxLength: 70 })
    const plain = line.map((text) => text.trimEnd())
    fc.assert(
      fc.property(fc.array(plain, { minLength: 1, maxLength: 8 }), (lines) => {
        expect(since('', lines.join('\r\n')).text).toBe(lines.join('\n'))
      }),
      { numRuns: 200 },
    )
  })
})

describe('the question of a program', () => {
  it.each([
    ['is the line that the cursor stands on', 'text\r\nPassword: ', 'Password:'],
    ['is whole when the screen has broken it', 'Do you really want that? [y/N] ', 'Do you really want that? [y/N]'],
    ['is the line above where that asks', 'Name?\r\n', 'Name?'],
    ['is nothing below a line that asks nothing', 'reading\r\n', ''],
    ['is nothing on an empty screen', '', ''],
  ])('%s', (_title, data, question) => {
    expect(since('', data).transcript.question()).toBe(question)
  })
})
