// Searches for files: those with a match, those with how many, and those with a name. Each run to its end, so that totals are exact, and kept
// only as far as the page reaches.
import type { Filter } from './filter.ts'
import { FirstFew } from './first-few.ts'
import { hear, kindOf } from './hits.ts'
import { Messages } from './messages.ts'
import { PathList } from './path-list.ts'
import { comparePaths, withoutDot, type PathKey } from './path-order.ts'
import type { Place } from './place.ts'
import { runRipgrep, type RipgrepEnd } from './ripgrep.ts'

export interface FileRequest {
  readonly args: readonly string[]
  readonly place: Place
  readonly filter: Filter
  /** The first so many are kept, and all when there are no more than `holdUpTo`. */
  readonly keep: number
  readonly holdUpTo: number
  readonly signal: AbortSignal
  readonly deadline: number
}

export interface FoundFile {
  readonly path: PathKey
  /** Lines that match. */
  readonly count?: number
}

export interface FoundFiles {
  /** The first ones in order. */
  readonly files: readonly FoundFile[]
  /** All in order, where they are held. */
  readonly all: readonly FoundFile[] | undefined
  readonly total: number
  /** Of all files, those that are not kept too. */
  readonly lines: number
  readonly searched: number | null
  readonly end: RipgrepEnd
}

const byPath = (left: FoundFile, right: FoundFile): number => comparePaths(left.path, right.path)

/** Files with a match; each is looked at up to its first one. */
export async function filesWithMatches(request: FileRequest): Promise<FoundFiles> {
  const few = new FirstFew<FoundFile>(request.keep, byPath, request.holdUpTo)
  const messages = new Messages()
  let searched: number | null = null
  const end = await run(request, ['--json', '--max-count=1'], (chunk) =>
    messages.read(chunk, (message) => {
      const kind = kindOf(message)
      if (kind !== 'begin' && kind !== 'other') return false
      const heard = hear(message, 0)
      if (heard?.kind === 'begin' && request.filter.accepts(heard.path)) few.add({ path: heard.path })
      if (heard?.kind === 'summary') searched = heard.searched
      return false
    }),
  )
  return { files: few.items(), all: few.all(), total: few.total, lines: few.total, searched, end }
}

/** How many lines match in each file. */
export async function matchCounts(request: FileRequest): Promise<FoundFiles> {
  const few = new FirstFew<FoundFile>(request.keep, byPath, request.holdUpTo)
  let lines = 0
  let path: PathKey | undefined
  // `path NUL count newline path NUL …`: what stands between two NULs is the count of one and the name of the next.
  const add = (counted: string): void => {
    if (path === undefined || !request.filter.accepts(path)) return
    const count = Number.parseInt(counted, 10)
    lines += count
    few.add({ path, count })
  }
  const list = new PathList((bytes, start, end) => {
    const piece = bytes.toString('latin1', start, end)
    const newline = path === undefined ? -1 : piece.indexOf('\n')
    add(piece.slice(0, newline))
    path = withoutDot(piece.slice(newline + 1))
  })
  const end = await run(request, ['--count', '--null', '--with-filename', '--stats'], (chunk) => {
    list.read(chunk)
    return false
  })
  if (end.by === 'done') add(list.rest)
  const searched = /(?:^|\n)(\d+) files searched\n/.exec(list.rest)?.[1]
  return {
    files: few.items(),
    all: few.all(),
    total: few.total,
    lines,
    searched: searched === undefined ? null : Number(searched),
    end,
  }
}

function run(
  { args, place, signal, deadline }: FileRequest,
  format: readonly string[],
  read: (chunk: Buffer) => boolean,
): Promise<RipgrepEnd> {
  return runRipgrep({ args: ['--binary', ...format, ...args], cwd: place.folder, signal, deadline, read })
}
