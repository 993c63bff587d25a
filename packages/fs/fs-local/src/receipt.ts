// What a write proves and shows: fingerprints of both sides, ranges, line counts and hunks, in time that the change bounds, not the file.
import type { BigIntStats } from 'node:fs'
import type { FsFingerprint, FsRange, FsReceipt, FsStrategy, FsWriteResult } from '@deepseek-ai/dsh-fs'
import { bomBytes, decodeKnown, fingerprintOf, type Encoding } from './encoding.ts'
import { CONTEXT_LINES, HunkCollector, MOST_COMPARED, hunksBetween, type Hunks } from './hunks.ts'
import { countLineEndings, eolOfBytes, lineEnd, lineStart } from './line-endings.ts'
import type { Present } from './present.ts'
import type { Span, SplicedBytes } from './splice.ts'
import { infoOf, versionOf } from './version.ts'

/** More are told in neighbouring groups, each as one range. */
const MOST_RANGES = 1000

export function editedResult(
  present: Present,
  spliced: SplicedBytes,
  strategy: FsStrategy,
  stats: BigIntStats,
): FsWriteResult {
  const { bytes, encoding } = present
  const told = isWide(encoding) ? wholeHunks(spliced, encoding) : spanHunks(spliced, encoding)
  const { mode } = infoOf(stats)
  const receipt: FsReceipt = {
    strategy,
    ranges: rangesOf(spliced.spans),
    lines: { added: told.added, removed: told.removed },
    before: fingerprintOfBytes(bytes, encoding, infoOf(present.stats).mode),
    after: fingerprintOfBytes(spliced.bytes, encoding, mode),
  }
  return { operation: 'edited', version: versionOf(stats), receipt, hunks: told.hunks, hunksCut: told.cut }
}

export interface Written {
  /** Null: there was no file, or none whose text is known. */
  readonly old: { readonly text: string; readonly fingerprint: FsFingerprint } | null
  readonly created: boolean
  readonly text: string
  readonly bytes: number
  readonly encoding: Encoding
  readonly stats: BigIntStats
}

export function writtenResult({ old, created, text, bytes, encoding, stats }: Written): FsWriteResult {
  const { hunks, cut, added, removed } = hunksBetween(old?.text ?? null, text)
  const receipt: FsReceipt = {
    strategy: 'whole',
    ranges: [{ start: 0, end: bytes }],
    lines: { added, removed },
    before: old?.fingerprint ?? null,
    after: fingerprintOf(text, bytes, encoding, infoOf(stats).mode),
  }
  return { operation: created ? 'created' : 'replaced', version: versionOf(stats), receipt, hunks, hunksCut: cut }
}

/** Line endings are single bytes in every encoding but UTF-16: no text is made of the file to find them. */
function fingerprintOfBytes(bytes: Buffer, encoding: Encoding, mode: number): FsFingerprint {
  if (isWide(encoding)) {
    const text = decodeKnown(bytes.subarray(bomBytes(encoding).length), encoding)
    return fingerprintOf(text, bytes.length, encoding, mode)
  }
  const last = bytes.at(-1)
  const finalNewline = last === 0x0a || last === 0x0d
  const { name, bom } = encoding
  return { bytes: bytes.length, encoding: name, bom, eol: eolOfBytes(bytes), finalNewline, mode }
}

function isWide({ name }: Encoding): boolean {
  return name === 'utf-16le' || name === 'utf-16be'
}

function rangesOf(spans: readonly Span[]): FsRange[] {
  const size = Math.ceil(spans.length / MOST_RANGES)
  const ranges: FsRange[] = []
  for (let at = 0; at < spans.length; at += size) {
    const last = spans[Math.min(at + size, spans.length) - 1]!
    ranges.push({ start: spans[at]!.newStart, end: last.newEnd })
  }
  return ranges
}

function wholeHunks({ original, bytes }: SplicedBytes, encoding: Encoding): Hunks {
  const mark = bomBytes(encoding).length
  return hunksBetween(decodeKnown(original.subarray(mark), encoding), decodeKnown(bytes.subarray(mark), encoding))
}

/** Only the lines around the spans are looked at, as many times as there are places. */
function spanHunks({ spans, original, bytes }: SplicedBytes, encoding: Encoding): Hunks {
  const collector = new HunkCollector()
  const hasCr = original.includes(0x0d)
  const mark = bomBytes(encoding).length
  let [at, oldLine, newLine, newAt] = [0, 0, 0, 0]
  for (const { oldStart, oldEnd, newStart, newEnd } of surroundings(spans, original, hasCr)) {
    oldLine += countLineEndings(original, at, oldStart)
    newLine += countLineEndings(bytes, newAt, newStart)
    const [oldPart, newPart] = [original.subarray(oldStart, oldEnd), bytes.subarray(newStart, newEnd)]
    if (oldPart.length + newPart.length > MOST_COMPARED) {
      const [oldLines, newLines] = withoutCommonEnds(oldPart, newPart)
      collector.addCount(lineCountOf(oldLines), lineCountOf(newLines))
    } else {
      const text = (part: Buffer, start: number): string =>
        decodeKnown(start === 0 ? part.subarray(mark) : part, encoding)
      collector.add({ oldText: text(oldPart, oldStart), newText: text(newPart, newStart), oldLine, newLine })
    }
    ;[at, newAt] = [oldStart, newStart]
  }
  return collector
}

/** The surroundings off again. */
function withoutCommonEnds(oldPart: Buffer, newPart: Buffer): [Buffer, Buffer] {
  let [a, b] = [oldPart, newPart]
  for (let left = CONTEXT_LINES + 2; left > 0; left--) {
    const end = lineEnd(a, 0, true)
    if (end !== lineEnd(b, 0, true) || !a.subarray(0, end).equals(b.subarray(0, end))) break
    ;[a, b] = [a.subarray(end), b.subarray(end)]
  }
  for (let left = CONTEXT_LINES + 2; left > 0; left--) {
    const [start, other] = [lineStart(a, a.length - 1, true), lineStart(b, b.length - 1, true)]
    if (a.length === 0 || b.length === 0 || !a.subarray(start).equals(b.subarray(other))) break
    ;[a, b] = [a.subarray(0, start), b.subarray(0, other)]
  }
  return [a, b]
}

function lineCountOf(bytes: Buffer): number {
  const last = bytes.at(-1)
  return countLineEndings(bytes) + (last === undefined || last === 0x0a || last === 0x0d ? 0 : 1)
}

/** Whole lines around each span, those that touch as one. */
function* surroundings(spans: readonly Span[], original: Buffer, hasCr: boolean): Generator<Span> {
  let open: { oldStart: number; oldEnd: number; newStart: number; newEnd: number } | undefined
  for (const span of spans) {
    const before = span.oldStart - linesUp(original, span.oldStart, hasCr)
    const after = linesDown(original, span.oldEnd, hasCr) - span.oldEnd
    // Up to the next span both sides are the same, and what reaches it becomes one with it.
    const end = { oldEnd: span.oldEnd + after, newEnd: span.newEnd + after }
    if (open !== undefined && span.oldStart - before <= open.oldEnd) {
      Object.assign(open, end)
      continue
    }
    if (open !== undefined) yield open
    open = { oldStart: span.oldStart - before, newStart: span.newStart - before, ...end }
  }
  if (open !== undefined) yield open
}

function linesUp(bytes: Buffer, from: number, hasCr: boolean): number {
  // One more where a CR before the span may have been half of an ending.
  let at = lineStart(bytes, from, hasCr)
  for (let left = hasCr ? CONTEXT_LINES + 1 : CONTEXT_LINES; left > 0 && at > 0; left--) {
    at = lineStart(bytes, at - 1, hasCr)
  }
  return at
}

function linesDown(bytes: Buffer, from: number, hasCr: boolean): number {
  let at = from
  for (let left = CONTEXT_LINES + 1; left > 0 && at < bytes.length; left--) at = lineEnd(bytes, at, hasCr)
  return at
}
