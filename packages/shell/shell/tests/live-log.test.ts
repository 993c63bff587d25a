import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { HELD_UNITS, LiveLog } from '../src/executor/live-log.ts'

/** Everything from `cursor` on, read in steps of `step` units. */
function readAll(log: LiveLog, step: number, cursor = 0): string {
  let text = ''
  for (;;) {
    const slice = log.read(cursor, step)
    if (slice.text === '') return text
    text += slice.text
    cursor = slice.cursor
  }
}

describe('the live log', () => {
  it('gives the text back in order, whatever the chunks and the steps are', () => {
    const unit = fc.constantFrom('a', 'é', '€', '😀', '\n')
    fc.assert(
      fc.property(
        fc.string({ unit, maxLength: 300 }),
        fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1 }),
        fc.integer({ min: 1, max: 40 }),
        fc.boolean(),
        (text, sizes, step, decode) => {
          const log = new LiveLog()
          const bytes = Buffer.from(text)
          let heard = ''
          for (let at = 0, i = 0; at < bytes.length; i++) {
            const size = sizes[i % sizes.length] ?? 1
            heard += log.push('stdout', bytes.subarray(at, at + size), decode)
            at += size
          }
          heard += log.end('stdout')
          expect(heard).toBe(text) // small chunks are always decoded at once
          expect(readAll(log, step)).toBe(text)
          expect(log.read(0)).toEqual({ text, cursor: text.length, lost: 0 })
        },
      ),
    )
  })

  it('holds at least its promise of a flood, and tells what is lost', () => {
    const log = new LiveLog()
    for (let i = 0; i < 100; i++) log.push('stdout', Buffer.alloc(50_000, 97 + (i % 26)), false)
    const { text, cursor, lost } = log.read(0)
    expect(cursor).toBe(5_000_000)
    expect(lost + text.length).toBe(5_000_000)
    expect(text.length).toBeGreaterThanOrEqual(HELD_UNITS)
    expect(text.length).toBeLessThan(HELD_UNITS + 50_000)
    expect(text.endsWith('v'.repeat(50_000))).toBe(true)
  })

  it('keeps both streams in order of arrival and their split characters apart', () => {
    const log = new LiveLog()
    log.push('stdout', Buffer.from('out '), false)
    log.push('stdout', Buffer.from('€').subarray(0, 1), false)
    log.push('stderr', Buffer.from('err '), false)
    log.push('stdout', Buffer.from('€').subarray(1), false)
    log.push('stderr', Buffer.from('é').subarray(0, 1), false)
    log.end('stderr')
    expect(log.read(0).text).toBe('out err €\uFFFD')
  })

  it('reads from where the last read ended, and consumes nothing', () => {
    const log = new LiveLog()
    log.push('stdout', Buffer.from('one'), false)
    const first = log.read(0)
    log.push('stderr', Buffer.from('two'), false)
    expect(log.read(first.cursor)).toEqual({ text: 'two', cursor: 6, lost: 0 })
    expect(log.read(0).text).toBe('onetwo')
    expect(log.read(99)).toEqual({ text: '', cursor: 6, lost: 0 })
    expect(log.read(-5, 2)).toEqual({ text: 'on', cursor: 2, lost: 0 })
  })

  it('never halves a surrogate pair, not even for a reader that takes one unit', () => {
    const log = new LiveLog()
    log.push('stdout', Buffer.from('a😀b'), false)
    expect(log.read(0, 2)).toEqual({ text: 'a', cursor: 1, lost: 0 })
    expect(log.read(1, 1)).toEqual({ text: '😀', cursor: 3, lost: 0 })
  })

  it('takes 200,000 one-byte chunks in linear time', () => {
    const log = new LiveLog()
    const start = performance.now()
    for (let i = 0; i < 200_000; i++) log.push('stdout', Buffer.from([97 + (i % 26)]), false)
    expect(log.read(199_998).text).toHaveLength(2)
    expect(performance.now() - start).toBeLessThan(10_000)
  })
})
