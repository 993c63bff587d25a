// The last bound on what a tool result adds to the history. Tools bound themselves; this catches the one that does not.
import { contentText, type ContentBlock } from '@deepseek-ai/dsh-tools'

/** The content as it is when its text fits, else one block with the head, a line that says what is missing, and the tail. */
export function boundContent(content: readonly ContentBlock[], maxBytes: number): readonly ContentBlock[] {
  let units = 0
  for (const block of content) units += block.text.length + 1
  if (units * 3 <= maxBytes) return content // no UTF-16 unit takes more than three bytes
  const bytes = Buffer.from(contentText(content))
  if (bytes.length <= maxBytes) return content
  const half = Math.floor(maxBytes / 2)
  const head = backToBoundary(bytes, half)
  const tail = forwardToBoundary(bytes, bytes.length - half)
  const note = `[${tail - head} of ${bytes.length} bytes are missing here: the result is larger than ${maxBytes} bytes]`
  const text = `${bytes.toString('utf8', 0, head)}\n${note}\n${bytes.toString('utf8', tail)}`
  return [{ type: 'text', text }]
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80
}

function backToBoundary(bytes: Buffer, index: number): number {
  while (index > 0 && isContinuation(bytes[index])) index -= 1
  return index
}

function forwardToBoundary(bytes: Buffer, index: number): number {
  while (index < bytes.length && isContinuation(bytes[index])) index += 1
  return index
}
