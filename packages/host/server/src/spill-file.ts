// Reads a part of a spilled file as text, cut between code points, so that parts put together give the whole.
import { open } from 'node:fs/promises'
import { utf8CompleteLength } from '@deepseek-ai/cordis'
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
    const length = atEnd ? bytesRead : utf8CompleteLength(buffer.subarray(0, bytesRead)) || bytesRead
    const text = buffer.toString('utf8', 0, length)
    return { text, from, next: atEnd ? null : from + length, totalBytes }
  } finally {
    await file.close()
  }
}
