// Bounds text for a model: keeps head and tail, cuts between code points, says what is missing. Node only.
import { cutMiddle } from './cut-middle.ts'
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
  const text = cutMiddle(bytes, maxBytes, (missing) => note(missing, bytes.length))
  return Object.freeze([Object.freeze({ type: 'text' as const, text })])
}

function note(missing: number, total: number): string {
  return `\n[${missing} of ${total} bytes are missing here: the result is larger than its limit]\n`
}
