// One or more edits on the bytes of a file, all or none: finds each, says why it cannot be found, and keeps what is not part of it.
import { FsError, type FsEdit, type FsStrategy } from '@deepseek-ai/dsh-fs'
import { bomBytes, canHold, decode, encode, hasLoneSurrogate, type Encoding } from './encoding.ts'
import { findText, type Matches, type Place } from './matching.ts'
import { closestText, placesText } from './near-miss.ts'
import { placeholderIn } from './placeholder.ts'
import { replacementsOf } from './replacement.ts'
import { SplicedBytes } from './splice.ts'

export interface EditedBytes {
  readonly spliced: SplicedBytes
  /** The least exact that was needed. */
  readonly strategy: FsStrategy
}

const ORDER: readonly FsStrategy[] = ['exact', 'line-endings', 'whitespace']

/** `what` begins the messages, e.g. `cannot edit "a.txt"`. Throws `FsError`. */
export function applyEdits(bytes: Buffer, encoding: Encoding, edits: readonly FsEdit[], what: string): EditedBytes {
  if (edits.length === 0) throw new FsError(`${what}: there is no edit to make`, 'FS_INVALID_EDIT')
  const spliced = new SplicedBytes(bytes)
  let strategy: FsStrategy = 'exact'
  for (const [index, edit] of edits.entries()) {
    const which = edits.length === 1 ? what : `${what}, edit ${index + 1} of ${edits.length}`
    assertEdit(edit, which)
    const used = applyOne(spliced, encoding, edit, which)
    if (ORDER.indexOf(used) > ORDER.indexOf(strategy)) strategy = used
  }
  spliced.check()
  return { spliced, strategy }
}

function assertEdit({ oldText, newText }: FsEdit, what: string): void {
  if (oldText === '') throw new FsError(`${what}: the old text is empty; to create a file, write it`, 'FS_INVALID_EDIT')
  if (oldText === newText) throw new FsError(`${what}: the new text must differ from the old one`, 'FS_INVALID_EDIT')
  if (hasLoneSurrogate(oldText)) {
    const message = `${what}: the old text holds half a character (a lone surrogate); correct it`
    throw new FsError(message, 'FS_INVALID_EDIT')
  }
  const placeholder = placeholderIn(newText, oldText)
  if (placeholder !== undefined) {
    throw new FsError(
      `${what}: the line ${JSON.stringify(placeholder)} stands for code that would be lost; write the code itself, or leave those lines out of both texts`,
      'FS_INVALID_EDIT',
    )
  }
}

function applyOne(spliced: SplicedBytes, encoding: Encoding, edit: FsEdit, what: string): FsStrategy {
  return exactBytes(spliced, encoding, edit, what) ?? decodedEdit(spliced, encoding, edit, what)
}

/** The common case without decoding: the old text stands there byte for byte, and there is one kind of line ending at most. */
function exactBytes(spliced: SplicedBytes, encoding: Encoding, edit: FsEdit, what: string): FsStrategy | undefined {
  const { bytes } = spliced
  const texts = edit.oldText + edit.newText
  if (encoding.name !== 'utf-8' || texts.includes('\r')) return undefined
  if (texts.includes('\n') && bytes.includes(0x0d)) return undefined // endings are matched and written as the lines there have them
  const wanted = Buffer.from(edit.oldText, 'utf8')
  const places: { start: number; end: number }[] = []
  // A text that overlaps itself is there more than once.
  const step = edit.all === true ? wanted.length : 1
  for (let at = bytes.indexOf(wanted); at >= 0; at = bytes.indexOf(wanted, at + step)) {
    places.push({ start: at, end: at + wanted.length })
    if (places.length > 1 && edit.all !== true) return undefined // told with line numbers, which need the text
  }
  if (places.length === 0) return undefined
  const fresh = encode(edit.newText, encoding.name, what)
  spliced.replace(places.map((place) => narrowed(bytes, place, fresh)))
  return 'exact'
}

/** Leaves out the bytes that are the same at both ends, on whole characters. */
function narrowed(bytes: Buffer, { start, end }: { start: number; end: number }, fresh: Buffer) {
  const most = Math.min(end - start, fresh.length)
  let from = 0
  while (from < most && bytes[start + from] === fresh[from]) from++
  while (from > 0 && isContinuation(bytes[start + from] ?? fresh[from])) from--
  let back = 0
  while (back < most - from && bytes[end - 1 - back] === fresh[fresh.length - 1 - back]) back++
  while (back > 0 && isContinuation(fresh[fresh.length - back])) back--
  return { start: start + from, end: end - back, fresh: fresh.subarray(from, fresh.length - back) }
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0b1100_0000) === 0b1000_0000
}

function decodedEdit(spliced: SplicedBytes, encoding: Encoding, edit: FsEdit, what: string): FsStrategy {
  const text = decode(spliced.bytes, encoding, what)
  const matches = canHold(edit.oldText, encoding.name) ? findText(text, edit.oldText, edit.all === true) : undefined
  if (matches === undefined) {
    const closest = closestText(text, edit.oldText)
    throw new FsError(`${what}: the old text was not found. ${closest}`.trimEnd(), 'FS_EDIT_NOT_FOUND')
  }
  assertUnique(matches, text, edit, what)
  const mark = bomBytes(encoding).length
  const offsetOf = byteOffsets(text, encoding)
  const pieces = matches.places
    .flatMap((place) => replacementsOf(text, place, edit, matches.strategy))
    .filter(({ start, end, text: fresh }) => start !== end || fresh !== '')
    .map(({ start, end, text: fresh }) => ({
      start: mark + offsetOf(start),
      end: mark + offsetOf(end),
      fresh: encode(fresh, encoding.name, what),
    }))
  spliced.replace(pieces)
  return matches.strategy
}

function assertUnique({ places, strategy }: Matches, text: string, edit: FsEdit, what: string): void {
  if (places.length === 1 || edit.all === true) return
  const how = strategy === 'exact' ? '' : ' (apart from white space and line endings)'
  throw new FsError(
    `${what}: the old text is there more than once${how}: ${placesText(text, places)}. Add lines around it until it is unique, or replace all`,
    'FS_AMBIGUOUS_EDIT',
  )
}

/** From a position in the text to one in its bytes. Asked in rising order, so that the text is measured once. */
function byteOffsets(text: string, { name }: Encoding): (at: Place['start']) => number {
  if (name === 'bytes') return (at) => at
  if (name !== 'utf-8') return (at) => at * 2
  let [known, bytes] = [0, 0]
  return (at) => {
    if (at < known) [known, bytes] = [0, 0]
    bytes += Buffer.byteLength(text.slice(known, at))
    known = at
    return bytes
  }
}
