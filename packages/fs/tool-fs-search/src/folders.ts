// How many files there are below each folder of the first level, counted from the bytes of their paths.
import { comparePaths, type PathKey } from './path-order.ts'

export interface Folder {
  /** With its slash; empty for the files that are in no folder. */
  readonly prefix: PathKey
  files: number
  /** The path that `behind` is about. */
  bound: PathKey | undefined
  behind: boolean
}

/** A place with more of them is no project; files in others are not counted by folder. */
const MAX_FOLDERS = 1000
const SLASH = 47

export class Folders {
  private readonly known = new Map<PathKey, Folder>()
  // Most paths are in the folder of the one before.
  private last = folderNamed('')

  of(bytes: Buffer, start: number, end: number): Folder {
    const { prefix } = this.last
    let isSame = prefix !== ''
    for (let at = 0; isSame && at < prefix.length; at++) isSame = bytes[start + at] === prefix.charCodeAt(at)
    if (!isSame) this.last = this.find(bytes, start, end)
    return this.last
  }

  fullest(count: number): Folder[] {
    return [...this.known.values()]
      .toSorted((a, b) => b.files - a.files || comparePaths(a.prefix, b.prefix))
      .slice(0, count)
  }

  private find(bytes: Buffer, start: number, end: number): Folder {
    const slash = bytes.indexOf(SLASH, start)
    const prefix = slash === -1 || slash > end ? '' : bytes.toString('latin1', start, slash + 1)
    const known = this.known.get(prefix)
    if (known !== undefined) return known
    const folder = folderNamed(prefix)
    if (this.known.size < MAX_FOLDERS) this.known.set(prefix, folder)
    return folder
  }
}

function folderNamed(prefix: PathKey): Folder {
  return { prefix, files: 0, bound: undefined, behind: false }
}

/** Everything in the folder comes after the path. Remembered for the last path that was asked about. */
export function isBehind(folder: Folder, path: PathKey): boolean {
  if (folder.bound !== path) {
    folder.bound = path
    const { prefix } = folder
    folder.behind = prefix !== '' && !path.startsWith(prefix) && comparePaths(prefix, path) > 0
  }
  return folder.behind
}
