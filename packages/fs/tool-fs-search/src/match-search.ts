// Searches for lines. First in parallel, until the total is known or too large to be counted; then, where it is, in path order and only as far as
// the page reaches. Both give the same pages.
import { closeSync, openSync, readSync } from 'node:fs'
import type { Filter } from './filter.ts'
import { hear, kindOf, type Row } from './hits.ts'
import { Messages, type Message } from './messages.ts'
import type { FileRows } from './page.ts'
import { comparePaths, type PathKey } from './path-order.ts'
import type { Place } from './place.ts'
import { runRipgrep, type RipgrepEnd } from './ripgrep.ts'

export interface MatchRequest {
  readonly args: readonly string[]
  readonly place: Place
  readonly filter: Filter
  readonly offset: number
  readonly limit: number
  /** UTF-8 bytes that a page may take. */
  readonly budget: number
  readonly countUpTo: number
  readonly maxLineLength: number
  readonly signal: AbortSignal
  readonly deadline: number
}

export interface Matches {
  /** In path order. `from` is the number of the first match among all. */
  readonly files: readonly FileRows[]
  readonly from: number
  readonly total: number
  readonly exact: boolean
  /** All matches are in `files`. */
  readonly all: boolean
  readonly searched: number | null
  readonly binary: readonly PathKey[]
  readonly end: RipgrepEnd
}

/** Held of lines, whatever their number. */
const MAX_HELD_BYTES = 16 * 1024 * 1024
const MAX_BINARY = 10_000
/** Where ripgrep itself looks for a NUL before it starts. */
const PROBE_BYTES = 65_536

/** Rejects as `runRipgrep` does. */
export async function searchMatches(request: MatchRequest): Promise<Matches> {
  const { countUpTo } = request
  const parallel = new Reader(request, 0, countUpTo, MAX_HELD_BYTES)
  const end = await run(request, parallel, [])
  if (end.by !== 'enough') return { ...parallel.found(), exact: end.by === 'done', all: true, end }
  const { offset, limit, budget } = request
  const sorted = new Reader(request, offset, offset + limit, budget)
  const second = await run(request, sorted, ['--sort=path'])
  const found = sorted.found()
  // What a parallel run has seen by the time it is ended differs from run to run; what it proves does not.
  const proven = Math.min(parallel.found().total, countUpTo)
  const total = second.by === 'done' ? found.total : Math.max(found.total, proven)
  return { ...found, total, exact: second.by === 'done', all: false, end: second }
}

function run({ args, place, signal, deadline }: MatchRequest, reader: Reader, more: string[]): Promise<RipgrepEnd> {
  const messages = new Messages()
  return runRipgrep({
    args: ['--json', '--binary', ...more, ...args],
    cwd: place.folder,
    signal,
    deadline,
    read: (chunk) => messages.read(chunk, (message) => reader.take(message)),
  })
}

class Reader {
  private readonly request: MatchRequest
  /** Matches before this one are counted and not kept. */
  private readonly from: number
  private readonly upTo: number
  private readonly maxBytes: number
  private readonly files: FileRows[] = []
  private readonly binary: PathKey[] = []
  private searched: number | null = null
  /** Matches in files that have ended. */
  private counted = 0
  private heldBytes = 0
  private path: PathKey | undefined
  private rows: Row[] = []
  private matches = 0
  private probed: 'text' | 'binary' | undefined

  constructor(request: MatchRequest, from: number, upTo: number, maxBytes: number) {
    this.request = request
    this.from = from
    this.upTo = upTo
    this.maxBytes = maxBytes
  }

  /** True when there is enough. */
  take(message: Message): boolean {
    const kind = kindOf(message)
    if (kind === 'match') {
      if (this.path === undefined || this.probed === 'binary') return false
      this.matches++
      const number = this.counted + this.matches
      if (number > this.upTo || this.heldBytes > this.maxBytes) {
        this.probed ??= this.probe(this.path)
        if (this.probed === 'text') return true
        this.drop()
        return false
      }
      if (number <= this.from) return false
    } else if (kind === 'context') {
      if (this.path === undefined || this.probed === 'binary' || this.counted + this.matches < this.from) return false
    }
    const heard = hear(message, this.request.maxLineLength)
    switch (heard?.kind) {
      case 'begin':
        this.path = this.request.filter.accepts(heard.path) ? heard.path : undefined
        this.probed = undefined
        break
      case 'row':
        this.rows.push(heard.row)
        this.heldBytes += heard.row.text.length + 50
        break
      case 'end':
        this.endFile(heard.binary)
        break
      case 'summary':
        this.searched = heard.searched
        break
      case undefined:
        break
      default:
        heard satisfies never
    }
    return false
  }

  found(): Pick<Matches, 'files' | 'from' | 'total' | 'searched' | 'binary'> {
    if (this.path !== undefined) this.endFile(this.matches > 0 && (this.probed ?? this.probe(this.path)) === 'binary')
    const files = this.files.toSorted((a, b) => comparePaths(a.path, b.path))
    return { files, from: this.from, total: this.counted, searched: this.searched, binary: this.binary }
  }

  private endFile(binary: boolean): void {
    const { path, rows, matches } = this
    const hasMatches = matches > 0 || this.probed === 'binary'
    if (path !== undefined && hasMatches) {
      if (binary || this.probed === 'binary') {
        if (this.binary.length < MAX_BINARY) this.binary.push(path)
        this.drop()
      } else {
        this.counted += matches
        if (rows.some(({ context }) => !context)) this.files.push({ path, rows })
      }
    }
    this.path = undefined
    this.rows = []
    this.matches = 0
  }

  private drop(): void {
    for (const { text } of this.rows) this.heldBytes -= text.length + 50
    this.rows = []
    this.matches = 0
  }

  /** ripgrep says at the end of a file whether it is binary, which may be far away. */
  private probe(key: PathKey): 'text' | 'binary' {
    const { place } = this.request
    const path = Buffer.from(`${Buffer.from(place.folder).toString('latin1')}/${key}`, 'latin1')
    try {
      const fd = openSync(path, 'r')
      try {
        const bytes = Buffer.alloc(PROBE_BYTES)
        const head = bytes.subarray(0, readSync(fd, bytes))
        const isUtf16 = (head[0] === 0xff && head[1] === 0xfe) || (head[0] === 0xfe && head[1] === 0xff)
        return !isUtf16 && head.includes(0) ? 'binary' : 'text'
      } finally {
        closeSync(fd)
      }
    } catch {
      return 'text' // gone since: its lines are what it was
    }
  }
}
