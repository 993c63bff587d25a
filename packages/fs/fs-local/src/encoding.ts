// How a file's text is put into bytes: found out on reading, kept on writing. Nothing is converted: what an encoding cannot hold is refused.
import { isAscii, isUtf8 } from 'node:buffer'
import { utf8CompleteLength } from '@deepseek-ai/cordis'
import { FsError, type FsEncoding, type FsFingerprint } from '@deepseek-ai/dsh-fs'
import { EndingKinds } from './line-endings.ts'

const UTF8_BOM = Buffer.from([0xef, 0xbb, 0xbf])
const UTF16LE_BOM = Buffer.from([0xff, 0xfe])
const UTF16BE_BOM = Buffer.from([0xfe, 0xff])

/** How much of a file is looked at to tell text from anything else. */
const SAMPLE_BYTES = 8192

export interface Encoding {
  readonly name: FsEncoding
  readonly bom: boolean
}

export const PLAIN: Encoding = { name: 'utf-8', bom: false }
/** No Unicode: each byte for itself. */
export const BYTES: Encoding = { name: 'bytes', bom: false }

/** Undefined for a file that is no text. `whole` is false for the beginning of a file. */
export function detectEncoding(bytes: Buffer, whole = true): Encoding | undefined {
  const known = whole ? bytes : bytes.subarray(0, utf8CompleteLength(bytes))
  // Bytes that only begin like UTF-8 with a mark are kept as bytes, mark included.
  if (startsWith(bytes, UTF8_BOM)) return isUtf8(known) ? { name: 'utf-8', bom: true } : BYTES
  // A NUL pair after it would be UTF-32.
  if (startsWith(bytes, UTF16LE_BOM) && !(bytes[2] === 0 && bytes[3] === 0)) return { name: 'utf-16le', bom: true }
  if (startsWith(bytes, UTF16BE_BOM)) return { name: 'utf-16be', bom: true }
  const sample = bytes.subarray(0, SAMPLE_BYTES)
  if (sample.includes(0)) return unmarkedWide(sample)
  if (isUtf8(known)) return PLAIN
  return looksLikeText(sample) ? BYTES : undefined
}

/**
 * UTF-16 without a mark: read in the right order it is mostly ASCII, in the wrong one, like numbers in binary, anything but. Control characters
 * are in neither.
 */
function unmarkedWide(sample: Buffer): Encoding | undefined {
  const even = sample.subarray(0, sample.length & ~1)
  for (const name of ['utf-16le', 'utf-16be'] as const) {
    const encoding = { name, bom: false }
    const text = decodeKnown(even, encoding).replace(/[\ud800-\udbff]$/, '') // the sample may end in the middle of a pair
    const ascii = text.match(/[\t\n\f\r\x20-\x7e]/g)?.length ?? 0
    if (ascii * 3 > text.length && !hasControl(text) && !hasLoneSurrogate(text)) return encoding
  }
  return undefined
}

/** Of those that text does not have. */
function hasControl(text: string): boolean {
  return /[^\P{Cc}\t\n\f\r\u0080-\u009f]/u.test(text)
}

export function bomBytes({ name, bom }: Encoding): Buffer {
  if (!bom) return Buffer.alloc(0)
  return name === 'utf-16le' ? UTF16LE_BOM : name === 'utf-16be' ? UTF16BE_BOM : UTF8_BOM
}

/** The text behind the byte order mark. Throws `FS_NOT_TEXT` when the bytes are not what they began as. */
export function decode(bytes: Buffer, encoding: Encoding, what: string): string {
  const body = bytes.subarray(bomBytes(encoding).length)
  if (encoding.name === 'utf-8' && !isUtf8(body)) {
    throw new FsError(`${what}: its bytes are not the UTF-8 that it begins with`, 'FS_NOT_TEXT')
  }
  if (encoding.name === 'utf-8' || encoding.name === 'bytes') return decodeKnown(body, encoding)
  if (body.length % 2 !== 0) throw new FsError(`${what}: it ends in the middle of a UTF-16 character`, 'FS_NOT_TEXT')
  const text = decodeKnown(body, encoding)
  if (hasLoneSurrogate(text)) throw new FsError(`${what}: it holds half a UTF-16 character`, 'FS_NOT_TEXT')
  return text
}

/** Text of bytes that have been looked at before, without a byte order mark. */
export function decodeKnown(body: Buffer, { name }: Encoding): string {
  switch (name) {
    case 'utf-8':
      return body.toString('utf8')
    case 'bytes':
      return body.toString('latin1')
    case 'utf-16le':
      return body.toString('utf16le')
    case 'utf-16be':
      return Buffer.from(body).swap16().toString('utf16le')
    default:
      return name satisfies never
  }
}

/** Bytes of a text without a byte order mark. Throws `FS_INVALID_EDIT` for characters that the encoding does not have. */
export function encode(text: string, name: FsEncoding, what: string): Buffer {
  if (hasLoneSurrogate(text)) {
    throw new FsError(`${what}: the new text holds half a character (a lone surrogate); correct it`, 'FS_INVALID_EDIT')
  }
  if (name === 'utf-8') return Buffer.from(text, 'utf8')
  if (name === 'utf-16le') return Buffer.from(text, 'utf16le')
  if (name === 'utf-16be') return Buffer.from(text, 'utf16le').swap16()
  const foreign = Array.from(text).find((character) => character.codePointAt(0)! > 0xff)
  if (foreign === undefined) return Buffer.from(text, 'latin1')
  throw new FsError(
    `${what}: the file is in a one-byte or unknown encoding, which cannot hold ${JSON.stringify(foreign)}; use ASCII there, or convert the file first`,
    'FS_INVALID_EDIT',
  )
}

/** Whether bytes of the text can stand in such a file at all; a search for what cannot finds nothing. */
export function canHold(text: string, name: FsEncoding): boolean {
  return name !== 'bytes' || !/[\u0100-\uffff]/.test(text)
}

export function fingerprintOf(text: string, bytes: number, encoding: Encoding, mode: number): FsFingerprint {
  return {
    bytes,
    encoding: encoding.name,
    bom: encoding.bom,
    eol: eolOf(text),
    finalNewline: text.endsWith('\n') || text.endsWith('\r'),
    mode,
  }
}

export function eolOf(text: string): FsFingerprint['eol'] {
  // The common case needs no walk: no carriage return anywhere.
  if (!text.includes('\r')) return text.includes('\n') ? 'lf' : 'none'
  const kinds = new EndingKinds()
  for (const [ending] of text.matchAll(/\r\n|\n|\r/g)) {
    kinds.add(ending === '\n' ? 'lf' : ending === '\r' ? 'cr' : 'crlf')
    if (kinds.eol === 'mixed') break
  }
  return kinds.eol
}

export const EOL_TEXT = { lf: '\n', crlf: '\r\n', cr: '\r' } as const

export function hasLoneSurrogate(text: string): boolean {
  return /\p{Surrogate}/u.test(text)
}

function startsWith(bytes: Buffer, mark: Buffer): boolean {
  return bytes.length >= mark.length && bytes.subarray(0, mark.length).equals(mark)
}

/** Few control characters: text in an encoding that is not known, not a program or a picture. */
function looksLikeText(sample: Buffer): boolean {
  if (isAscii(sample)) return true
  let odd = 0
  for (const byte of sample) {
    const control = byte < 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0c && byte !== 0x0d && byte !== 0x1b
    if (control || byte === 0x7f) odd++
  }
  return odd * 100 <= sample.length
}
