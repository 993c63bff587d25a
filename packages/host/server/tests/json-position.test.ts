import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { jsonErrorOffset } from '../src/json-position.ts'

describe('the place where a text stops being JSON', () => {
  it.each([
    ['', 0],
    ['   ', 3],
    ['{', 1],
    ['{"a":1,}', 7],
    ['[1,]', 3],
    ['{"a" 1}', 5],
    ['{a:1}', 1],
    ['nul', 0],
    ['"abc', 4],
    ['"a\nb"', 2],
    ['"a\\x"', 2],
    ['{} x', 3],
    ['[1 2]', 3],
    [']', 0],
    ['{"a":[1,{"b":}]}', 13],
    ['01', 0],
  ])('%j breaks at %d', (text, offset) => {
    expect(() => JSON.parse(text) as unknown).toThrow()
    expect(jsonErrorOffset(text)).toBe(offset)
  })

  it('is the end for every text that was cut, and never behind a character that was put in', () => {
    fc.assert(
      fc.property(fc.json(), fc.nat(), (json, at) => {
        const cut = json.slice(0, at % (json.length + 1))
        let whole = true
        try {
          JSON.parse(cut)
        } catch {
          whole = false
        }
        const broken = `${cut}\u0001${json.slice(cut.length)}`
        expect(jsonErrorOffset(broken)).toBeLessThanOrEqual(cut.length)
        if (!whole && cut.trim() === cut && /["\]}[{,:]$/.test(cut)) expect(jsonErrorOffset(cut)).toBe(cut.length)
      }),
    )
  })
})
