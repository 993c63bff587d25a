// Reads a part of a spilled file as text, cut between code points, so that parts put together give the whole.
import { open } from 'node:fs/promises'
import type { Methods } from './protocol.ts'

const MOST_BYTES = 256 * 1024

/** At most `bytes` from byte `from` on. Invalid UTF-8 is shown as U+FFFD. */
export async function readSpill(
  path: string,
  from: number,
  bytes: number = MOST_BYTES,
): Promise<Methods['spill.read']['value']> {
  const file = await open(path, 'r')
  try {
    const { size: totalBytes } = await file.stat()
    const buffer = Buffer.alloc(Math.max(0, Math.min(bytes, MOST_BYTES, totalBytes - from)))
    const { bytesRead } = await file.read(buffer, 0, buffer.length, from)
    const atEnd = from + bytesRead >= totalBytes
    const length = atEnd ? bytesRead : wholeCharacters(buffer.subarray(0, bytesRead))
    const text = buffer.toString('utf8', 0, length)
    return { text, from, next: atEnd ? null : from + length, totalBytes }
  } finally {
    await file.close()
  }
}

/** Length without a code point that the end cuts in half; all of it when that would leave nothing. */
function wholeCharacters(bytes: Buffer): number {
  let start = bytes.length
  while (start > 0 && bytes.length - start < 4 && (bytes[start - 1]! & 0b1100_0000) === 0b1000_0000) start--
  const lead = bytes[start - 1] ?? 0
  const needs = lead >= 0b1111_0000 ? 4 : lead >= 0b1110_0000 ? 3 : lead >= 0b1100_0000 ? 2 : 1
  const whole = bytes.length - (start - 1) >= needs ? bytes.length : start - 1
  return whole > 0 ? whole : bytes.length
}
