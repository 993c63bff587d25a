// Bounds text for a model: keeps head and tail, cuts between code points, says what is missing. Node only.
import type { ContentBlock } from './presentation.ts'
import { contentText } from './presentation.ts'

/**
 * The content as it is when its text fits into `maxBytes` of UTF-8; otherwise one block with the head, a line that says how much is
 * missing, and the tail, together within the bound. Bounds too small even for that line cut the line.
 */
export function boundContent(content: readonly ContentBlock[], maxBytes: number): readonly ContentBlock[] {
  let units = 0
  for (const block of content) units += block.text.length + 1
  if (units * 3 <= maxBytes) return content // no UTF-16 unit takes more than three bytes
  const bytes = Buffer.from(contentText(content))
  if (bytes.length <= maxBytes) return content
  return Object.freeze([Object.freeze({ type: 'text' as const, text: headAndTail(bytes, maxBytes) })])
}

function headAndTail(bytes: Buffer, maxBytes: number): string {
  // The widest note this text can need decides what is left for head and tail.
  const room = maxBytes - Buffer.byteLength(note(bytes.length, bytes.length))
  if (room <= 0) return bytes.toString('utf8', 0, backToBoundary(bytes, maxBytes))
  const head = backToBoundary(bytes, Math.ceil(room / 2))
  const tail = forwardToBoundary(bytes, bytes.length - Math.floor(room / 2))
  return `${bytes.toString('utf8', 0, head)}${note(tail - head, bytes.length)}${bytes.toString('utf8', tail)}`
}

function note(missing: number, total: number): string {
  return `\n[${missing} of ${total} bytes are missing here: the result is larger than its limit]\n`
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80
}

function backToBoundary(bytes: Buffer, index: number): number {
  let at = index
  while (at > 0 && isContinuation(bytes[at])) at--
  return at
}

function forwardToBoundary(bytes: Buffer, index: number): number {
  let at = index
  while (at < bytes.length && isContinuation(bytes[at])) at++
  return at
}
