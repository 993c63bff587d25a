import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CallIds, LONGEST_ID } from '../src/call-ids.ts'

describe('call ids on the wire', () => {
  it('are short, stable and never two of one, whatever the ids are', () => {
    const id = fc.oneof(fc.string({ minLength: 60, maxLength: 90 }), fc.string(), fc.constant('x'.repeat(80)))
    fc.assert(
      fc.property(fc.uniqueArray(id, { maxLength: 20 }), (ids) => {
        const first = new CallIds(ids)
        const wire = ids.map((each) => first.of(each))
        expect(new Set(wire).size).toBe(ids.length)
        for (const [index, each] of wire.entries()) {
          expect(each.length).toBeLessThanOrEqual(LONGEST_ID)
          expect(each).not.toBe('')
          const original = ids[index] ?? ''
          if (original !== '' && original.length <= LONGEST_ID) expect(each).toBe(original)
        }
        const again = new CallIds(ids.toReversed())
        expect(ids.map((each) => again.of(each))).toEqual(wire)
      }),
    )
  })

  it('stay apart from an id that looks like a shortened one', () => {
    const long = 'a'.repeat(90)
    const short = new CallIds([long]).of(long)
    const both = new CallIds([long, short])
    expect(both.of(short)).toBe(short)
    expect(both.of(long)).not.toBe(short)
  })
})
