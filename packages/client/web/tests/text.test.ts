// Text that machines write: event streams and terminal output.
import { describe, expect, it } from 'vitest'
import * as fc from 'fast-check'
import { ansiLines, ansiSpans, plainText } from '../page/ansi.ts'
import { formatAge, formatDuration, formatElapsed } from '../page/format.ts'
import { createSseParser, type SseMessage } from '../page/sse.ts'

// eslint-disable-next-line no-control-regex
const escapeOrBreak = /[\u001B\n\r]/

function parse(chunks: readonly string[]): SseMessage[] {
  const messages: SseMessage[] = []
  const feed = createSseParser((message) => messages.push(message))
  for (const chunk of chunks) feed(chunk)
  return messages
}

describe('createSseParser', () => {
  it('reads event, id and data of several lines and skips comments', () => {
    expect(parse([': hi\nid: 7\nevent: event\ndata: a\ndata: b\n\n', 'data:x\n\n'])).toEqual([
      { event: 'event', id: '7', data: 'a\nb' },
      { event: 'message', data: 'x' },
    ])
  })

  it('says nothing of an event that is not complete', () => {
    expect(parse(['data: half\n'])).toEqual([])
  })

  it('reads the same messages however the bytes are cut', () => {
    const source =
      'id: 1\r\nevent: live\r\ndata: {"a":1}\r\n\r\n:ping\n\nid: 2\ndata: ü\ndata:\n\nevent: x\rdata: y\r\r'
    fc.assert(
      fc.property(fc.array(fc.nat(source.length), { maxLength: 12 }), (cuts) => {
        const at = [0, ...cuts.sort((one, other) => one - other), source.length]
        const chunks = at.slice(1).map((end, index) => source.slice(at[index], end))
        expect(parse([...chunks, '\n'])).toEqual(parse([source, '\n']))
      }),
    )
  })
})

describe('ansiLines', () => {
  const plain = (output: string): string[] => ansiLines(output).map(plainText)

  it('carries colours over line ends', () => {
    const lines = ansiLines('\u001B[31mred\nstill\u001B[0m\nplain\n')
    expect(lines.map((line) => line.carry)).toEqual(['', '\u001B[31m', ''])
    expect(ansiSpans(lines[1] as never)).toEqual([{ text: 'still', className: 'ansi-red-fg' }])
  })

  it('shows what a carriage return leaves', () => {
    expect(plain('10%\r50%\r100%\ndone\r\n')).toEqual(['100%', 'done'])
  })

  it.each([
    ['a title', 'a\u001B]0;title\u0007b', 'ab'],
    ['a link', '\u001B]8;;http://x\u001B\\text\u001B]8;;\u001B\\', 'text'],
    ['a device string', 'a\u001BPq#0\u001B\\b', 'ab'],
    ['cursor moves', 'a\u001B[2J\u001B[1;1Hb', 'ab'],
    ['a torn sequence at the end', 'a\u001B[3', 'a'],
    ['two-byte escapes', 'a\u001B(Bb\u001B=', 'ab'],
    ['controls', 'a\u0000\u0008b', 'ab'],
  ])('drops %s', (_what, output, shown) => {
    expect(plain(output)).toEqual([shown])
  })

  it('reads 256 and true colours', () => {
    const [line] = ansiLines('\u001B[38;5;196mx\u001B[38;2;1;2;3my')
    expect(ansiSpans(line as never).map((span) => span.color)).toEqual(['rgb(255, 0, 0)', 'rgb(1, 2, 3)'])
  })

  it('never shows an escape, whatever arrives', () => {
    const piece = fc.oneof(
      fc.string(),
      fc.constantFrom('\u001B', '\u001B[', '\u001B]', ';', 'm', '31', '\n', '\r', '\u0007', '\u009B'),
    )
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        for (const line of ansiLines(pieces.join(''))) {
          for (const span of ansiSpans(line)) expect(span.text).not.toMatch(escapeOrBreak)
        }
      }),
    )
  })

  it('indexes 100,000 coloured lines in well under a second', () => {
    const output = '\u001B[32mok\u001B[0m a line of a build log with some words\n'.repeat(100_000)
    const began = performance.now()
    expect(ansiLines(output)).toHaveLength(100_000)
    expect(performance.now() - began).toBeLessThan(2000)
  })
})

describe('times', () => {
  it.each([
    [0, '0 ms'],
    [999, '999 ms'],
    [2140, '2.1 s'],
    [59_990, '1m 00s'],
    [134_000, '2m 14s'],
    [3_780_000, '1h 03m'],
  ])('writes %d ms as %s', (ms, shown) => expect(formatDuration(ms)).toBe(shown))

  it('counts whole seconds while running', () => expect(formatElapsed(8400)).toBe('8 s'))
  it('writes ages short', () => {
    const minute = 60_000
    const ages = [0, 12 * minute, 180 * minute, 6 * 1440 * minute, 30 * 1440 * minute]
    expect(ages.map((age) => formatAge(0, age, 'now'))).toEqual(['now', '12m', '3h', '6d', '4w'])
  })
})
