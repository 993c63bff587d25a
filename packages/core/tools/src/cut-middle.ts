// Cuts the middle out of UTF-8 text, between code points.

// Note: a plain `Uint8Array`, since a public type that names `Buffer` would ask consumers for Node's types.
/** Head, note and tail, together within `maxBytes`. `note` is asked for the number of bytes that are missing. */
export function cutMiddle(utf8: Uint8Array, maxBytes: number, note: (missing: number) => string): string {
  const bytes = Buffer.from(utf8.buffer, utf8.byteOffset, utf8.length)
  // The widest note this text can need decides what is left for head and tail.
  const room = maxBytes - Buffer.byteLength(note(bytes.length))
  if (room <= 0) return bytes.toString('utf8', 0, backToBoundary(bytes, maxBytes))
  const head = backToBoundary(bytes, Math.ceil(room / 2))
  const tail = forwardToBoundary(bytes, bytes.length - Math.floor(room / 2))
  return bytes.toString('utf8', 0, head) + note(tail - head) + bytes.toString('utf8', tail)
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
