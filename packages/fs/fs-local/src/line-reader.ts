// Some lines of a file, in memory proportional to them: looks at as much of the file as it must, and says how much that was.
import type { FileHandle } from 'node:fs/promises'
import { FsError, type FsLines, type LineRange } from '@deepseek-ai/dsh-fs'
import { BYTES, bomBytes, decode, detectEncoding, fingerprintOf, type Encoding } from './encoding.ts'
import { LineScan, type LineLimits } from './line-scan.ts'
import type { Opened } from './present.ts'
import { LineWindow } from './line-window.ts'
import { infoOf } from './version.ts'

const CHUNK_BYTES = 256 * 1024
/** The lines of a larger file are counted only on demand. */
const COUNTED_BYTES = 10 * 1024 * 1024
/** UTF-16 is decoded whole. */
const MOST_DECODED = 64 * 1024 * 1024

interface Facts {
  readonly file: FileHandle
  readonly what: string
  readonly size: number
  readonly mode: number
  readonly limits: LineLimits
  readonly signal: AbortSignal | undefined
}

type Found = Omit<FsLines, 'version'>

export async function readLines(
  { file, stats }: Opened,
  range: LineRange,
  what: string,
  signal: AbortSignal | undefined,
): Promise<FsLines> {
  const info = infoOf(stats)
  const limits: LineLimits = {
    offset: range.offset ?? 1,
    count: range.count ?? 2000,
    maxBytes: range.maxBytes ?? 65_536,
    maxLineLength: range.maxLineLength ?? 2000,
    countAll: range.countAll ?? info.size <= COUNTED_BYTES,
  }
  const first = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, Math.max(info.size, 4096) + 1))
  const head = first.subarray(0, await readAt(file, first, 0, info.size))
  const encoding = detectEncoding(head, head.length >= info.size)
  if (encoding === undefined) throw new FsError(`${what}: it is a binary file, not text`, 'FS_NOT_TEXT')
  const facts: Facts = { file, what, size: info.size, mode: info.mode, limits, signal }
  const wide = encoding.name === 'utf-16le' || encoding.name === 'utf-16be'
  const beginning = { head, isAll: head.length < first.length }
  const found = wide ? await decodedLines(facts, encoding) : await scannedLines(facts, encoding, beginning)
  return { ...found, version: info.version }
}

/** As much as there is room for, or as there is. A read that comes short at `size` has seen the end. */
async function readAt(file: FileHandle, buffer: Buffer, position: number, size: number): Promise<number> {
  let at = 0
  while (at < buffer.length) {
    const { bytesRead } = await file.read(buffer, at, buffer.length - at, position + at)
    at += bytesRead
    if (bytesRead === 0 || (size > 0 && position + at === size)) break
  }
  return at
}

async function decodedLines({ file, what, size, mode, limits }: Facts, encoding: Encoding): Promise<Found> {
  if (size > MOST_DECODED) throw new FsError(`${what}: it is UTF-16 and too large to be read in parts`, 'FS_TOO_LARGE')
  const whole = Buffer.alloc(size)
  const bytes = whole.subarray(0, await readAt(file, whole, 0, size))
  const text = decode(bytes, encoding, what)
  const window = new LineWindow(limits)
  const lines = text.split(/\r\n|\n|\r/)
  if (lines.at(-1) === '') lines.pop()
  for (const line of lines) window.take(() => ({ text: line, length: line.length, unit: 'characters' }))
  const { lines: shown, cut } = window
  const fingerprint = fingerprintOf(text, bytes.length, encoding, mode)
  return { lines: shown, totalLines: lines.length, complete: true, cut, fingerprint }
}

interface Beginning {
  readonly head: Buffer
  /** The file ends with it. */
  readonly isAll: boolean
}

/** UTF-8 and one-byte encodings: line ends are bytes, and only the lines that are wanted are decoded. */
async function scannedLines(facts: Facts, encoding: Encoding, beginning: Beginning): Promise<Found> {
  const { file, limits, signal, size, mode } = facts
  const { head, isAll } = beginning
  const scan = new LineScan(limits, encoding)
  const buffer = isAll ? head : Buffer.allocUnsafe(CHUNK_BYTES)
  let [chunk, position] = [head.subarray(bomBytes(encoding).length), head.length]
  while (scan.push(chunk)) {
    if (scan.done && !limits.countAll) return scan.result(size, mode, false)
    signal?.throwIfAborted()
    const bytesRead = isAll ? 0 : await readAt(file, buffer, position, size)
    if (bytesRead === 0 && scan.end()) return scan.result(position, mode, true)
    if (bytesRead === 0) break
    position += bytesRead
    chunk = buffer.subarray(0, bytesRead)
  }
  // It only began like UTF-8. Lines that were shown as such would not be found again.
  return scannedLines(facts, BYTES, beginning)
}
