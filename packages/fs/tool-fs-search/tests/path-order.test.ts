import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FirstFew } from '../src/first-few.ts'
import { Folders, isBehind } from '../src/folders.ts'
import { PathList } from '../src/path-list.ts'
import { compareBytes, comparePaths, keyOfText, shownPath } from '../src/path-order.ts'

const segment = fc.string({ unit: fc.constantFrom('a', 'b', '.', '-', ' ', 'é', '\u00ff'), minLength: 1, maxLength: 4 })
const path = fc.array(segment, { minLength: 1, maxLength: 4 }).map((names) => names.join('/'))

/** Name by name, by bytes: the definition. */
function slowly(left: string, right: string): number {
  const [a, b] = [left.split('/'), right.split('/')]
  for (let at = 0; at < Math.min(a.length, b.length); at++) {
    const order = Buffer.compare(Buffer.from(a[at] ?? '', 'latin1'), Buffer.from(b[at] ?? '', 'latin1'))
    if (order !== 0) return order
  }
  return a.length - b.length
}

describe('the order of paths', () => {
  it('compares name by name, by bytes', () => {
    fc.assert(
      fc.property(path, path, (left, right) => {
        expect(Math.sign(comparePaths(left, right))).toBe(Math.sign(slowly(left, right)))
        const bytes = Buffer.from(`./${left}`, 'latin1')
        expect(Math.sign(compareBytes(bytes, 2, bytes.length, right))).toBe(Math.sign(slowly(left, right)))
      }),
    )
  })

  it('puts what is in a folder where the folder would be', () => {
    expect(['a.txt', 'a/z', 'a-b', 'b', 'a'].toSorted(comparePaths)).toEqual(['a', 'a/z', 'a-b', 'a.txt', 'b'])
  })

  it('keeps the identity of names that are no Unicode', () => {
    expect(shownPath('n\u00ffame')).toBe('n\uFFFDame')
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(shownPath(keyOfText(text))).toBe(Buffer.from(text).toString())
      }),
    )
  })
})

describe('the first few', () => {
  it('are those of the whole list, and all of it while it is held', () => {
    fc.assert(
      fc.property(fc.array(path, { maxLength: 400 }), fc.nat(20), fc.nat(300), (paths, size, holdUpTo) => {
        const few = new FirstFew(size + 1, comparePaths, holdUpTo)
        for (const each of paths) {
          const isLate = few.bound !== undefined && comparePaths(each, few.bound) >= 0
          if (isLate && !few.isHolding) few.pass()
          else few.add(each)
        }
        const sorted = paths.toSorted(comparePaths)
        expect(few.total).toBe(paths.length)
        expect(few.items()).toEqual(sorted.slice(0, size + 1))
        const isHeld = paths.length <= Math.max(holdUpTo, size + 1)
        expect(few.all()).toEqual(isHeld ? sorted : undefined)
      }),
    )
  })
})

describe('a list of paths', () => {
  it('is the same however it arrives', () => {
    fc.assert(
      fc.property(
        fc.array(path, { maxLength: 50 }),
        fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }),
        (paths, sizes) => {
          const bytes = Buffer.from(paths.map((each) => `${each}\0`).join('') + 'rest', 'latin1')
          const seen: string[] = []
          const list = new PathList((piece, start, end) => seen.push(piece.toString('latin1', start, end)))
          for (let at = 0, turn = 0; at < bytes.length; turn++) {
            const end = at + (sizes[turn % sizes.length] ?? 1)
            list.read(bytes.subarray(at, end))
            at = end
          }
          expect(seen).toEqual(paths)
          expect(list).toMatchObject({ count: paths.length, rest: 'rest' })
        },
      ),
    )
  })

  it('is counted by folder, and a folder knows when it is behind a path', () => {
    fc.assert(
      fc.property(fc.array(path, { maxLength: 60 }), path, (paths, bound) => {
        const folders = new Folders()
        const expected = new Map<string, number>()
        for (const each of paths) {
          const bytes = Buffer.from(each, 'latin1')
          const folder = folders.of(bytes, 0, bytes.length)
          folder.files++
          expected.set(folder.prefix, (expected.get(folder.prefix) ?? 0) + 1)
          expect(folder.prefix).toBe(each.slice(0, each.indexOf('/') + 1))
          if (isBehind(folder, bound)) expect(comparePaths(each, bound)).toBeGreaterThan(0)
        }
        expect(Object.fromEntries(folders.fullest(100).map(({ prefix, files }) => [prefix, files]))).toEqual(
          Object.fromEntries(expected),
        )
      }),
    )
  })
})
