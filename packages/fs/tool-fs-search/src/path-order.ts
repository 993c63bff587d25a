// The identity and the order of paths: bytes as the file system has them, compared name by name, as ripgrep's own `--sort=path` does, so that
// a parallel search that is sorted here and a sorted one give the same pages.

/** A path as bytes, one UTF-16 unit a byte, so that names that are no Unicode keep their identity. Relative, with `/`. */
export type PathKey = string

const SLASH = 47
const NOT_ASCII = /[\u0080-\u00ff]/

/** A folder's content comes where the folder would: the separator sorts before every byte. */
export function comparePaths(left: PathKey, right: PathKey): number {
  const shared = Math.min(left.length, right.length)
  for (let at = 0; at < shared; at++) {
    const a = left.charCodeAt(at)
    const b = right.charCodeAt(at)
    if (a === b) continue
    if (a === SLASH) return -1
    return b === SLASH ? 1 : a - b
  }
  return left.length - right.length
}

/** The same order, of bytes. */
export function compareBytes(bytes: Uint8Array, start: number, end: number, right: PathKey): number {
  const shared = Math.min(end - start, right.length)
  for (let at = 0; at < shared; at++) {
    const a = bytes[start + at] ?? 0
    const b = right.charCodeAt(at)
    if (a === b) continue
    if (a === SLASH) return -1
    return b === SLASH ? 1 : a - b
  }
  return end - start - right.length
}

/** What people and models see: bytes that are no UTF-8 show as U+FFFD. */
export function shownPath(key: PathKey): string {
  return NOT_ASCII.test(key) ? Buffer.from(key, 'latin1').toString('utf8') : key
}

export function keyOfText(path: string): PathKey {
  return Buffer.from(path, 'utf8').toString('latin1')
}

export function keyOfBytes(base64: string): PathKey {
  return Buffer.from(base64, 'base64').toString('latin1')
}

/** ripgrep repeats the `./` that it is given. */
export function withoutDot(key: PathKey): PathKey {
  return key.startsWith('./') ? key.slice(2) : key
}
