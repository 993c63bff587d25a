// The end of a text that fits into so many bytes.

export interface TextEnd {
  readonly text: string
  readonly lines: number
  readonly isCut: boolean
}

/** In whole lines where there are several. */
export function endOf(text: string, maxBytes: number): TextEnd {
  const lines = (each: string): number => each.split('\n').length
  if (Buffer.byteLength(text) <= maxBytes) return { text, lines: lines(text), isCut: false }
  const end = Buffer.from(text).subarray(-maxBytes)
  // The cut may lie inside a character.
  let from = 0
  while (from < end.length && ((end[from] ?? 0) & 0xc0) === 0x80) from++
  const cut = end.subarray(from).toString()
  const rest = cut.slice(cut.indexOf('\n') + 1)
  // A line that is most of it is better than nothing.
  const whole = rest.length > cut.length / 2 ? rest : cut
  return { text: whole, lines: lines(whole), isCut: true }
}
