import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LineSplitter } from '../src/lines.ts'

describe('LineSplitter', () => {
  it('cuts at LF only, wherever the chunks end, and knows where each line begins', () => {
    const text = fc.string({
      unit: fc.constantFrom('a', '\n', '\r', '\u2028', '\u2029', '\u0085', '😀'),
      maxLength: 60,
    })
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 7 }), (input, size) => {
        const bytes = Buffer.from(input)
        const splitter = new LineSplitter(100)
        const lines: { text: string; offset: number }[] = []
        // One buffer for all chunks, as readers do.
        const chunk = Buffer.alloc(size)
        for (let at = 0; at < bytes.length; at += size) {
          const length = bytes.copy(chunk, 0, at, at + size)
          for (const line of splitter.push(chunk.subarray(0, length))) {
            lines.push({ text: line.bytes.toString(), offset: line.offset })
          }
        }
        const rest = splitter.rest()
        lines.push({ text: rest.bytes.toString(), offset: rest.offset })
        expect(lines.map((line) => line.text)).toEqual(input.split('\n'))
        for (const line of lines) {
          expect(bytes.toString('utf8', line.offset - 100).startsWith(line.text)).toBe(true)
        }
      }),
    )
  })

  it('takes a line of many megabytes in time linear in its length', () => {
    const splitter = new LineSplitter()
    const chunk = Buffer.alloc(64 * 1024, 'x')
    for (let n = 0; n < 1024; n++) expect([...splitter.push(chunk)]).toEqual([])
    const lines = [...splitter.push(Buffer.from('\n'))]
    expect(lines[0]?.bytes.length).toBe(64 * 1024 * 1024)
  })
})
