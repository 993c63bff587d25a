// Bounds text for a model: keeps head and tail, cuts between code points, says what is missing. Node only.
import { cutMiddle } from './cut-middle.ts'
import type { ContentBlock } from './presentation.ts'
import { contentText, imageText } from './presentation.ts'

/**
 * The content as it is when it fits into `maxBytes`; otherwise one block with the head of its text, a line that says how much is
 * missing, and the tail, together within the bound. Bounds too small even for that line cut the line. Images count as the base64
 * that they are, and are never cut: those that do not fit beside the text become a line that names them.
 */
export function boundContent(content: readonly ContentBlock[], maxBytes: number): readonly ContentBlock[] {
  let units = 0
  for (const block of content) units += block.type === 'text' ? block.text.length + 1 : block.data.length + 1
  if (units * 3 <= maxBytes) return content // no UTF-16 unit takes more than three bytes
  if (content.some((block) => block.type === 'image')) return boundImages(content, maxBytes)
  const bytes = Buffer.from(contentText(content))
  if (bytes.length <= maxBytes) return content
  const text = cutMiddle(bytes, maxBytes, (missing) => note(missing, bytes.length))
  return Object.freeze([Object.freeze({ type: 'text' as const, text })])
}

/** The first images that fit are kept, after the text. */
function boundImages(content: readonly ContentBlock[], maxBytes: number): readonly ContentBlock[] {
  const text = contentText(content.filter((block) => block.type === 'text'))
  let left = maxBytes - Buffer.byteLength(text)
  const fits = content.map((block) => {
    if (block.type === 'text' || block.data.length > left) return block.type === 'text'
    left -= block.data.length
    return true
  })
  if (left >= 0 && fits.every(Boolean)) return content
  const texts = content.flatMap((block, index): ContentBlock[] => {
    if (block.type === 'text') return [block]
    return fits[index] === true
      ? []
      : [{ type: 'text', text: `${imageText(block)} left out: the result is larger than its limit` }]
  })
  const kept = content.filter((block, index) => block.type === 'image' && fits[index] === true)
  const room = maxBytes - kept.reduce((sum, block) => sum + (block.type === 'image' ? block.data.length : 0), 0)
  return Object.freeze([...boundContent(texts, room), ...kept])
}

function note(missing: number, total: number): string {
  return `\n[${missing} of ${total} bytes are missing here: the result is larger than its limit]\n`
}
