import { describe, expect, it } from 'vitest'
import { Eagerness } from '../src/eagerness.ts'

/** How many of the next waits begin with a look, when each look ends as given. */
function looks(eagerness: Eagerness, waits: number, found: boolean): number {
  let count = 0
  for (let wait = 0; wait < waits; wait += 1) {
    if (!eagerness.shouldLook()) continue
    count += 1
    eagerness.looked(found)
  }
  return count
}

describe('looking before sleeping', () => {
  it('goes on as long as it finds answers', () => {
    expect(looks(new Eagerness(), 100, true)).toBe(100)
  })

  it('becomes rare where it is in vain, but never stops', () => {
    const eagerness = new Eagerness()
    const count = looks(eagerness, 100, false)
    expect(count).toBeGreaterThan(10)
    expect(count).toBeLessThan(25)
  })

  it('is back to every wait with the first answer found', () => {
    const eagerness = new Eagerness()
    looks(eagerness, 100, false)
    expect(looks(eagerness, 100, true)).toBeGreaterThan(90)
  })
})
