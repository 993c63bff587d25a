// Edits as spans of bytes: what of the old file went, what of the new file came, and the check that everything else is the same.
import type { FileHandle } from 'node:fs/promises'
import { FsError, type FsRange } from '@deepseek-ai/dsh-fs'
import { statsOf } from './handles.ts'

/** A piece of the old file that became a piece of the new one. Bytes, end exclusive. */
export interface Span {
  readonly oldStart: number
  readonly oldEnd: number
  readonly newStart: number
  readonly newEnd: number
}

/** A file under edit: the original bytes, and what took the place of some of them. */
export class SplicedBytes {
  readonly original: Buffer
  bytes: Buffer
  /** In order, not touching. */
  spans: readonly Span[] = []

  constructor(original: Buffer) {
    this.original = original
    this.bytes = original
  }

  /** Replaces ranges of the current bytes; `pieces` are in order and do not overlap. */
  replace(pieces: readonly (FsRange & { readonly fresh: Buffer })[]): void {
    if (pieces.length === 0) return
    const parts: Buffer[] = []
    const made: Span[] = []
    let [at, shift] = [0, 0]
    for (const { start, end, fresh } of pieces) {
      parts.push(this.bytes.subarray(at, start), fresh)
      made.push({ oldStart: start, oldEnd: end, newStart: start + shift, newEnd: start + shift + fresh.length })
      shift += fresh.length - (end - start)
      at = end
    }
    parts.push(this.bytes.subarray(at))
    this.bytes = Buffer.concat(parts)
    this.spans = this.spans.length === 0 ? made : composed(this.spans, made)
  }

  /** The bytes that are to be written are the old ones outside the spans. Throws otherwise: then nothing must be published. */
  check(): void {
    let [oldAt, newAt] = [0, 0]
    for (const { oldStart, oldEnd, newStart, newEnd } of this.spans) {
      this.#same(oldAt, oldStart, newAt, newStart)
      oldAt = oldEnd
      newAt = newEnd
    }
    this.#same(oldAt, this.original.length, newAt, this.bytes.length)
  }

  #same(oldStart: number, oldEnd: number, newStart: number, newEnd: number): void {
    const length = oldEnd - oldStart
    const equal =
      length === newEnd - newStart &&
      length >= 0 &&
      this.original.compare(this.bytes, newStart, newEnd, oldStart, oldEnd) === 0
    if (!equal)
      throw new FsError('the edit would have changed bytes outside its range; nothing was written', 'FS_IO_ERROR')
  }
}

const CHUNK_BYTES = 1024 * 1024

/** The staged file is what was meant, read back from the disk's cache. */
export async function verifyStaged(file: FileHandle, bytes: Buffer): Promise<void> {
  const size = Number(statsOf(file).size)
  const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, Math.max(1, bytes.length)))
  let at = 0
  while (size === bytes.length && at < bytes.length) {
    const { bytesRead } = await file.read(chunk, 0, chunk.length, at)
    if (bytesRead === 0 || bytes.compare(chunk, 0, bytesRead, at, at + bytesRead) !== 0) break
    at += bytesRead
  }
  if (size !== bytes.length || at < bytes.length) {
    throw new FsError('the file on disk is not what was written; the old file was kept', 'FS_IO_ERROR')
  }
}

/** Spans of a second step, told in terms of the file before the first. */
function composed(first: readonly Span[], second: readonly Span[]): Span[] {
  const all: Span[] = []
  // Where a place in the middle file was in the old file, and will be in the new one.
  const toOld = (middle: number, side: 'start' | 'end'): number => mapBack(first, middle, side)
  const toNew = (middle: number, side: 'start' | 'end'): number => mapForth(second, middle, side)
  for (const { oldStart, oldEnd, newStart, newEnd } of first) {
    all.push({ oldStart, oldEnd, newStart: toNew(newStart, 'start'), newEnd: toNew(newEnd, 'end') })
  }
  for (const { oldStart, oldEnd, newStart, newEnd } of second) {
    all.push({ oldStart: toOld(oldStart, 'start'), oldEnd: toOld(oldEnd, 'end'), newStart, newEnd })
  }
  return merged(all.sort((a, b) => a.newStart - b.newStart || a.oldStart - b.oldStart))
}

function mapBack(spans: readonly Span[], at: number, side: 'start' | 'end'): number {
  let shift = 0
  for (const span of spans) {
    if (at < span.newStart || (at === span.newStart && side === 'end')) break
    if (at <= span.newEnd && !(at === span.newEnd && side === 'start'))
      return side === 'start' ? span.oldStart : span.oldEnd
    shift = span.oldEnd - span.newEnd
  }
  return at + shift
}

function mapForth(spans: readonly Span[], at: number, side: 'start' | 'end'): number {
  let shift = 0
  for (const span of spans) {
    if (at < span.oldStart || (at === span.oldStart && side === 'end')) break
    if (at <= span.oldEnd && !(at === span.oldEnd && side === 'start'))
      return side === 'start' ? span.newStart : span.newEnd
    shift = span.newEnd - span.oldEnd
  }
  return at + shift
}

function merged(spans: readonly Span[]): Span[] {
  const result: Span[] = []
  for (const span of spans) {
    const last = result.at(-1)
    if (last === undefined || (span.newStart > last.newEnd && span.oldStart > last.oldEnd)) {
      result.push(span)
      continue
    }
    result[result.length - 1] = {
      oldStart: Math.min(last.oldStart, span.oldStart),
      oldEnd: Math.max(last.oldEnd, span.oldEnd),
      newStart: Math.min(last.newStart, span.newStart),
      newEnd: Math.max(last.newEnd, span.newEnd),
    }
  }
  return result
}
