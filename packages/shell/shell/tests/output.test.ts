import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { HeadTail, type ShellSpillFile } from '../src/index.ts'
import { utf8CompleteLength as completeLength, utf8ContinuationLength as continuationLength } from '@deepseek-ai/cordis'

const GAP = /(?:^|\n)\[(\d+) bytes omitted\]\n/

function keep(maxBytes: number, chunks: readonly Uint8Array[]) {
  const kept = new HeadTail(maxBytes)
  for (const chunk of chunks) kept.push(chunk)
  return kept.finish()
}

function split(bytes: Uint8Array, sizes: readonly number[]): Uint8Array[] {
  const chunks: Uint8Array[] = []
  let at = 0
  for (let i = 0; at < bytes.length; i++) {
    const size = sizes.at(i % sizes.length) ?? 1
    chunks.push(bytes.slice(at, at + size))
    at += size
  }
  return chunks
}

describe('HeadTail', () => {
  it('says nothing of nothing', () => {
    expect(keep(10, [])).toEqual({ text: '', truncated: false, totalBytes: 0 })
  })

  it('keeps whole what fits, however it is cut into chunks', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 200 }),
        fc.array(fc.nat(20), { minLength: 1 }),
        (text, sizes) => {
          const bytes = Buffer.from(text)
          const chunks = split(
            bytes,
            sizes.map((size) => size + 1),
          )
          expect(keep(Math.max(1, bytes.length), chunks)).toEqual({ text, truncated: false, totalBytes: bytes.length })
        },
      ),
    )
  })

  it('keeps a true head and a true tail, accounts for every byte and never halves a code point', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'é', '€', '😀', 'z\n'), minLength: 40, maxLength: 400 })
    fc.assert(
      fc.property(
        text,
        fc.integer({ min: 1, max: 39 }),
        fc.array(fc.nat(70), { minLength: 1 }),
        (whole, max, sizes) => {
          const bytes = Buffer.from(whole)
          const chunks = split(
            bytes,
            sizes.map((size) => size + 1),
          )
          const { text: kept, truncated, totalBytes } = keep(max, chunks)
          expect({ truncated, totalBytes }).toEqual({ truncated: true, totalBytes: bytes.length })
          const gap = GAP.exec(kept)!
          const head = kept.slice(
            0,
            gap.index + (gap[0].startsWith('\n') && whole.startsWith(kept.slice(0, gap.index + 1)) ? 1 : 0),
          )
          const tail = kept.slice(gap.index + gap[0].length)
          expect(whole.startsWith(kept.slice(0, gap.index))).toBe(true)
          expect(whole.endsWith(tail)).toBe(true)
          expect(kept).not.toContain('\uFFFD')
          const keptBytes = bytes.length - Number(gap[1])
          expect(keptBytes).toBeLessThanOrEqual(max)
          expect([Buffer.byteLength(head + tail), Buffer.byteLength(kept.slice(0, gap.index) + tail)]).toContain(
            keptBytes,
          )
        },
      ),
    )
  })

  it('stays well-formed for any bytes', () => {
    const chunks = fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 100 })
    fc.assert(
      fc.property(chunks, fc.integer({ min: 1, max: 500 }), (all, max) => {
        const output = keep(max, all)
        const total = all.reduce((sum, chunk) => sum + chunk.length, 0)
        expect(output.totalBytes).toBe(total)
        expect(output.truncated).toBe(total > max)
        expect(output.text).not.toMatch(/\p{Cs}/u)
      }),
    )
  })

  it('holds little more than its limit of an endless line', () => {
    const kept = new HeadTail(65_536)
    const before = process.memoryUsage().arrayBuffers
    for (let i = 0; i < 2000; i++) kept.push(Buffer.alloc(100_000, 120))
    expect(kept.totalBytes).toBe(200_000_000)
    expect(kept.finish().text.length).toBeLessThan(66_000)
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(150_000_000)
  })

  it('takes 200,000 one-byte chunks in linear time', () => {
    const kept = new HeadTail(65_536)
    const start = performance.now()
    for (let i = 0; i < 200_000; i++) kept.push(Buffer.from([97 + (i % 26)]))
    expect(kept.finish().truncated).toBe(true)
    expect(performance.now() - start).toBeLessThan(10_000)
  })
})

/** A spill file in memory that takes at most `quota` bytes. */
function spillFile(quota = Number.POSITIVE_INFINITY) {
  const written: Uint8Array[] = []
  let bytes = 0
  const file: ShellSpillFile = {
    path: '/spill/file',
    write(chunk) {
      if (bytes + chunk.length > quota) return
      bytes += chunk.length
      written.push(chunk)
    },
    finish: () => ({ path: '/spill/file', bytes, complete: bytes === Buffer.concat(written).length && bytes < quota }),
  }
  return { file, content: () => Buffer.concat(written) }
}

describe('the spill of a stream', () => {
  it('holds every byte from the first on, however it is cut into chunks, and is only opened when needed', () => {
    const bytes = fc.uint8Array({ maxLength: 600 })
    fc.assert(
      fc.property(
        bytes,
        fc.integer({ min: 1, max: 300 }),
        fc.array(fc.nat(90), { minLength: 1 }),
        (all, max, sizes) => {
          const { file, content } = spillFile()
          let opened = 0
          const kept = new HeadTail(max, () => {
            opened++
            return file
          })
          const chunks = split(
            all,
            sizes.map((size) => size + 1),
          )
          for (const chunk of chunks) kept.push(chunk)
          const output = kept.finish()
          const isLong = all.length > max
          expect({ opened, spillPath: output.spillPath }).toEqual({
            opened: isLong ? 1 : 0,
            spillPath: isLong ? '/spill/file' : undefined,
          })
          if (isLong) expect(Buffer.compare(content(), Buffer.from(all))).toBe(0)
          expect('spillIncomplete' in output).toBe(false)
        },
      ),
    )
  })

  it('is told to be incomplete when a quota cut it', () => {
    const kept = new HeadTail(10, () => spillFile(15).file)
    kept.push(Buffer.alloc(100, 120))
    expect(kept.finish()).toMatchObject({ truncated: true, spillPath: '/spill/file' })
    const cut = new HeadTail(10, () => ({
      ...spillFile().file,
      finish: () => ({ path: '', bytes: 0, complete: false }),
    }))
    cut.push(Buffer.alloc(100, 120))
    expect(cut.finish()).toMatchObject({ spillPath: '/spill/file', spillIncomplete: true })
  })

  it('costs nothing but itself when it cannot be opened or breaks', () => {
    const closed = new HeadTail(10, () => {
      throw new Error('no room')
    })
    const broken = new HeadTail(10, () => ({
      ...spillFile().file,
      write: () => {
        throw new Error('gone')
      },
    }))
    for (const kept of [closed, broken]) for (let i = 0; i < 5; i++) kept.push(Buffer.alloc(100, 120))
    expect(closed.finish()).toMatchObject({ truncated: true, totalBytes: 500 })
    expect('spillPath' in closed.finish()).toBe(false)
    expect(broken.finish()).toMatchObject({ spillPath: '/spill/file', spillIncomplete: true })
  })
})

describe('the borders of code points', () => {
  it('leaves out a character that the end cuts in half, and nothing else', () => {
    const euro = Buffer.from('a€')
    expect([1, 2, 3, 4].map((end) => completeLength(euro.subarray(0, end)))).toEqual([1, 1, 1, 4])
    expect(completeLength(Buffer.from([0x80, 0x80, 0x80, 0x80]))).toBe(4)
  })

  it('skips at most the rest of one character at the start', () => {
    expect(continuationLength(Buffer.from('€').subarray(1))).toBe(2)
    expect(continuationLength(Buffer.from('abc'))).toBe(0)
    expect(continuationLength(Buffer.alloc(9, 0x80))).toBe(3)
  })
})
