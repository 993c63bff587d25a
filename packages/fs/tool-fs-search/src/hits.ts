// What ripgrep's messages say: lines with a match or around one, cut to a length, and the ends of files. Pure.
import { keyOfBytes, keyOfText, withoutDot, type PathKey } from './path-order.ts'
import type { Message } from './messages.ts'

export interface Row {
  /** 1-based. */
  readonly line: number
  /** Without the line ending; several lines for a match that spans them. */
  readonly text: string
  /** Where in `text` it matched, in UTF-16 units. */
  readonly ranges: readonly (readonly [number, number])[]
  /** A line around a match. */
  readonly context: boolean
}

export type Heard =
  | { readonly kind: 'begin'; readonly path: PathKey }
  | { readonly kind: 'row'; readonly row: Row }
  | { readonly kind: 'end'; readonly binary: boolean }
  | { readonly kind: 'summary'; readonly searched: number }

type Text = { readonly text: string } | { readonly bytes: string }

interface Line {
  readonly lines: Text
  readonly line_number: number | null
  readonly submatches: readonly { readonly start: number; readonly end: number }[]
}

const MAX_RANGES = 50
/** A match over several lines may be as long as so many. */
const LINES_OF_BLOCK = 10
const [B, M, C, E] = Buffer.from('bmce')
/** `{"type":"` comes first in all but the summary, which has a quote there. */
const TYPE_AT = 9

/** The kind of a message, without reading it. */
export function kindOf({ bytes }: Message): 'begin' | 'match' | 'context' | 'end' | 'other' {
  const letter = bytes[TYPE_AT]
  if (letter === M) return 'match'
  if (letter === C) return 'context'
  if (letter === B) return 'begin'
  return letter === E ? 'end' : 'other'
}

/** Undefined for what says nothing here. */
export function hear(message: Message, maxLineLength: number): Heard | undefined {
  const kind = kindOf(message)
  if (message.facts !== undefined) {
    const row = kind === 'match' || kind === 'context' ? longRow(message, kind === 'context', maxLineLength) : undefined
    return row && { kind: 'row', row }
  }
  const { data } = JSON.parse(message.bytes.toString('utf8')) as { data: Record<string, unknown> }
  switch (kind) {
    case 'begin':
      return { kind, path: pathOf(data['path'] as Text) }
    case 'end':
      return { kind, binary: typeof data['binary_offset'] === 'number' }
    case 'match':
    case 'context':
      return { kind: 'row', row: rowOf(data as unknown as Line, kind === 'context', maxLineLength) }
    case 'other': {
      const { searches } = (data['stats'] ?? {}) as { searches?: number }
      return typeof searches === 'number' ? { kind: 'summary', searched: searches } : undefined
    }
    default:
      return kind satisfies never
  }
}

function pathOf(path: Text): PathKey {
  return withoutDot('text' in path ? keyOfText(path.text) : keyOfBytes(path.bytes))
}

function rowOf({ lines, line_number, submatches }: Line, context: boolean, maxLineLength: number): Row {
  const bytes = 'text' in lines ? Buffer.from(lines.text) : Buffer.from(lines.bytes, 'base64')
  const spans = submatches.slice(0, MAX_RANGES).map(({ start, end }): [number, number] => [start, end])
  const text = withoutEnding(bytes)
  const length = text.includes(10) ? maxLineLength * LINES_OF_BLOCK : maxLineLength
  return { line: line_number ?? 1, context, ...cutAround(text, spans, length) }
}

/** Of a line too long to be held: the window around its first match where that lies in what was kept, its start otherwise. */
function longRow({ bytes, facts = '' }: Message, context: boolean, maxLineLength: number): Row {
  const line = Number.parseInt(facts, 10) || 1
  const spans = Array.from(facts.matchAll(/"start":(\d+),"end":(\d+)/g), ([, start, end]): [number, number] => [
    Number(start),
    Number(end),
  ]).slice(0, MAX_RANGES)
  const raw = bytes.indexOf('"lines":{"bytes":"')
  const kept = raw === -1 ? textHead(bytes) : bytesHead(bytes, raw)
  return { line, context, ...cutAround(kept, spans, maxLineLength, true) }
}

function textHead(bytes: Buffer): Buffer {
  const opening = '"lines":{"text":"'
  const from = bytes.indexOf(opening)
  if (from === -1) return Buffer.alloc(0)
  // What was cut may end within an escape, of at most twelve characters for one code point.
  const text = bytes.toString('utf8', from + opening.length)
  for (let cut = 0; cut <= 12; cut++) {
    try {
      return Buffer.from((JSON.parse(`"${text.slice(0, text.length - cut)}"`) as string).replace(/\uFFFD$/, ''))
    } catch {
      // Within an escape still.
    }
  }
  return Buffer.alloc(0)
}

function bytesHead(bytes: Buffer, at: number): Buffer {
  return Buffer.from(bytes.toString('latin1', at + '"lines":{"bytes":"'.length), 'base64')
}

function withoutEnding(bytes: Buffer): Buffer {
  let end = bytes.length
  if (bytes[end - 1] === 10) end--
  if (bytes[end - 1] === 13) end--
  return bytes.subarray(0, end)
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** At most `length` bytes, around the first match, with a mark where something is missing. */
function cutAround(
  bytes: Buffer,
  spans: readonly (readonly [number, number])[],
  length: number,
  moreFollows = false,
): Pick<Row, 'text' | 'ranges'> {
  if (bytes.length <= length && !moreFollows) {
    return { text: decoder.decode(bytes), ranges: rangesIn(bytes, spans, 0, bytes.length) }
  }
  const first = Math.min(spans[0]?.[0] ?? 0, bytes.length)
  let from = first < length * 0.75 ? 0 : codePointAt(bytes, first - Math.floor(length / 4))
  let to = codePointAt(bytes, Math.min(bytes.length, from + length))
  if (to <= from) [from, to] = [0, Math.min(bytes.length, length)]
  const before = from === 0 ? '' : `[${from} bytes before] `
  const isCut = to < bytes.length || moreFollows
  const after = isCut ? ` [${moreFollows ? 'more than ' : ''}${bytes.length - to} bytes after]` : ''
  const shift = before.length
  const ranges = rangesIn(bytes, spans, from, to).map(([start, end]): [number, number] => [start + shift, end + shift])
  return { text: before + decoder.decode(bytes.subarray(from, to)) + after, ranges }
}

/** Byte spans as UTF-16 units of what is shown of them. */
function rangesIn(
  bytes: Buffer,
  spans: readonly (readonly [number, number])[],
  from: number,
  to: number,
): (readonly [number, number])[] {
  const ranges: (readonly [number, number])[] = []
  for (const [start, end] of spans) {
    const [first, last] = [Math.max(start, from), Math.min(end, to)]
    if (last <= first) continue
    ranges.push([unitsOf(bytes, from, first), unitsOf(bytes, from, last)])
  }
  return ranges
}

function unitsOf(bytes: Buffer, from: number, to: number): number {
  return decoder.decode(bytes.subarray(from, to)).length
}

/** Back to the start of the code point. */
function codePointAt(bytes: Buffer, at: number): number {
  let start = at
  while (start > 0 && start > at - 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start--
  return start
}
