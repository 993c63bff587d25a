// Where a piece of UTF-8 may be cut: never in the middle of a code point.

/** Length of `bytes` without a code point that its end cuts in half. Bytes that are no UTF-8 anyway are left alone. */
export function utf8CompleteLength(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!
    if ((byte & 0b1100_0000) === 0b1000_0000) continue
    const needs = byte >= 0b1111_0000 ? 4 : byte >= 0b1110_0000 ? 3 : byte >= 0b1100_0000 ? 2 : 1
    return needs > back ? bytes.length - back : bytes.length
  }
  return bytes.length
}

/** How many bytes at the start belong to a code point that began before. At most 3: more is no UTF-8. */
export function utf8ContinuationLength(bytes: Uint8Array): number {
  let length = 0
  while (length < 3 && length < bytes.length && (bytes[length]! & 0b1100_0000) === 0b1000_0000) length++
  return length
}
