// Some lines of a file, in memory proportional to them: looks at as much of the file as it must, and says how much that was.
import { isUtf8 } from 'node:buffer'
import { open, type FileHandle } from 'node:fs/promises'
import { FsError, type FsLines, type LineRange } from '@deepseek-ai/dsh-fs'
import { bomBytes, decode, detectEncoding, eolOf, fingerprintOf, type Encoding } from './encoding.ts'
import { quoted } from './errno.ts'
import { infoOf } from './version.ts'

const CHUNK_BYTES = 256 * 1024
/** The lines of a larger file are counted only on demand. */
const COUNTED_BYTES = 10 * 1024 * 1024
/** UTF-16 is decoded whole. */
const MOST_DECODED = 64 * 1024 * 1024

interface Limits {
  readonly offset: number
  readonly count: number
  readonly maxBytes: number
  readonly maxLineLength: number
  readonly countAll: boolean
}

export async function readLines(path: string, range: LineRange, signal: AbortSignal | undefined): Promise<FsLines> {
  const file = await open(path, 'r')
  try {
    const stats = await file.stat({ bigint: true })
    if (!stats.isFile()) throw new FsError(`${quoted(path)} is no regular file`, 'FS_NOT_REGULAR_FILE')
    const info = infoOf(stats)
    const limits: Limits = {
      offset: range.offset ?? 1,
      count: range.count ?? 2000,
      maxBytes: range.maxBytes ?? 65_536,
      maxLineLength: range.maxLineLength ?? 2000,
      countAll: range.countAll ?? info.size <= COUNTED_BYTES,
    }
    const first = Buffer.allocUnsafe(CHUNK_BYTES)
    const { bytesRead } = await file.read(first, 0, first.length, 0)
    const head = first.subarray(0, bytesRead)
    const encoding = detectEncoding(head, bytesRead >= info.size)
    if (encoding === undefined) throw new FsError(`${quoted(path)} is a binary file, not text`, 'FS_NOT_TEXT')
    const facts = { path, size: info.size, mode: info.mode, encoding, limits }
    const found =
      encoding.name === 'utf-16le' || encoding.name === 'utf-16be'
        ? await decodedLines(file, facts)
        : await scannedLines(file, head, facts, signal)
    return { ...found, version: info.version }
  } finally {
    await file.close()
  }
}

interface Facts {
  readonly path: string
  readonly size: number
  readonly mode: number
  readonly encoding: Encoding
  readonly limits: Limits
}

type Found = Omit<FsLines, 'version'>

async function decodedLines(file: FileHandle, { path, size, mode, encoding, limits }: Facts): Promise<Found> {
  if (size > MOST_DECODED)
    throw new FsError(`${quoted(path)} is UTF-16 and too large to be read in parts`, 'FS_TOO_LARGE')
  const bytes = Buffer.alloc(size)
  await file.read(bytes, 0, size, 0)
  const text = decode(bytes, encoding, quoted(path))
  const collector = new Collector(limits)
  const lines = text.split(/\r\n|\n|\r/)
  if (lines.at(-1) === '') lines.pop()
  for (const line of lines) collector.take(() => line)
  return {
    lines: collector.lines,
    totalLines: lines.length,
    complete: true,
    cut: collector.cut,
    fingerprint: fingerprintOf(text, size, encoding, mode),
  }
}

/** UTF-8 and one-byte encodings: line ends are bytes, and only the lines that are wanted are decoded. */
async function scannedLines(
  file: FileHandle,
  head: Buffer,
  { size, mode, encoding, limits }: Facts,
  signal: AbortSignal | undefined,
): Promise<Found> {
  const scan = new Scan(limits, encoding, head)
  let chunk = head.subarray(bomBytes(encoding).length)
  let position = head.length
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES)
  for (;;) {
    scan.push(chunk)
    if (scan.done && !limits.countAll) break
    signal?.throwIfAborted()
    const { bytesRead } = await file.read(buffer, 0, buffer.length, position)
    if (bytesRead === 0) {
      scan.end()
      return scan.result(size, mode, true)
    }
    position += bytesRead
    chunk = buffer.subarray(0, bytesRead)
  }
  return scan.result(size, mode, false)
}

class Collector {
  readonly lines: { number: number; text: string }[] = []
  cut = false
  #number = 0
  #bytes = 0
  readonly #limits: Limits

  constructor(limits: Limits) {
    this.#limits = limits
  }

  /** Nothing more is wanted. */
  get full(): boolean {
    const { offset, count } = this.#limits
    return this.cut || this.#number >= offset + count - 1
  }

  get count(): number {
    return this.#number
  }

  /** Whether the next line is one that is wanted. */
  get wantsNext(): boolean {
    return !this.cut && this.#number + 1 >= this.#limits.offset && !this.full
  }

  take(read: () => string): void {
    const wanted = this.wantsNext
    this.#number++
    if (!wanted) return
    const text = shortened(read(), this.#limits.maxLineLength)
    this.#bytes += Buffer.byteLength(text) + 1
    if (this.#bytes > this.#limits.maxBytes && this.lines.length > 0) this.cut = true
    else this.lines.push({ number: this.#number, text })
  }
}

/** Splits at LF; at CR when the beginning of the file knows no LF. */
class Scan {
  readonly #collector: Collector
  readonly #encoding: Encoding
  readonly #separator: number
  #carry: Buffer[] = []
  #carried = 0
  #allUtf8 = true
  #endsWithSeparator = false
  #any = false
  readonly #eolSample: string

  constructor(limits: Limits, encoding: Encoding, head: Buffer) {
    this.#collector = new Collector(limits)
    this.#encoding = encoding
    this.#separator = !head.includes(0x0a) && head.includes(0x0d) ? 0x0d : 0x0a
    this.#eolSample = head.toString('latin1')
  }

  get done(): boolean {
    return this.#collector.full
  }

  push(chunk: Buffer): void {
    let from = 0
    for (let at = chunk.indexOf(this.#separator); at >= 0; at = chunk.indexOf(this.#separator, from)) {
      this.#line(chunk.subarray(from, at))
      from = at + 1
    }
    if (from < chunk.length) {
      // Only what may be shown is kept of a line that goes on; a line of gigabytes is counted, not held.
      const rest = chunk.subarray(from)
      if (this.#collector.wantsNext && this.#carried < MOST_CARRIED) this.#carry.push(Buffer.from(rest))
      this.#carried += rest.length
    }
    if (chunk.length > 0) {
      this.#any = true
      this.#endsWithSeparator = chunk[chunk.length - 1] === this.#separator
    }
  }

  end(): void {
    if (this.#carried > 0) this.#line(Buffer.alloc(0))
  }

  result(size: number, mode: number, complete: boolean): Found {
    const name = this.#allUtf8 ? this.#encoding.name : 'bytes'
    return {
      lines: this.#collector.lines,
      totalLines: this.#collector.count,
      complete,
      cut: this.#collector.cut,
      fingerprint: {
        bytes: size,
        encoding: name,
        bom: this.#encoding.bom,
        eol: eolOf(this.#eolSample),
        finalNewline: complete && this.#any && this.#endsWithSeparator,
        mode,
      },
    }
  }

  #line(end: Buffer): void {
    const carry = this.#carry
    const wanted = this.#collector.wantsNext
    this.#carry = []
    this.#carried = 0
    this.#collector.take(() => this.#text(wanted && carry.length > 0 ? Buffer.concat([...carry, end]) : end))
  }

  #text(bytes: Buffer): string {
    const line = this.#separator === 0x0a && bytes[bytes.length - 1] === 0x0d ? bytes.subarray(0, -1) : bytes
    if (this.#encoding.name === 'bytes') return line.toString('latin1')
    if (isUtf8(line)) return line.toString('utf8')
    this.#allUtf8 = false
    return line.toString('latin1')
  }
}

/** Of a line that is read in pieces. */
const MOST_CARRIED = 1024 * 1024

function shortened(line: string, most: number): string {
  if (line.length <= most) return line
  const last = line.charCodeAt(most - 1)
  const end = last >= 0xd800 && last <= 0xdbff ? most - 1 : most
  return `${line.slice(0, end)} … [line has ${line.length} characters]`
}
