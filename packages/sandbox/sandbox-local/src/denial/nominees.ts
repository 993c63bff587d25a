// Reads paths out of what programs say when the system refused them something. Whether the policy did is not known here.

/**
 * Why the system refused. `write`: an error that only writing meets. `crossing`: a move or link over mounts.
 * `permission`: reading, writing or running.
 */
export type Reason = 'write' | 'crossing' | 'permission'

export interface Nominee {
  /** As written: perhaps relative. */
  readonly path: string
  readonly reason: Reason
}

const REASONS: readonly (readonly [Reason, RegExp])[] = [
  ['write', /read-only file system|device or resource busy|\bEROFS\b|\bEBUSY\b|\b(?:errno|os error) (?:30|16)\b/i],
  ['crossing', /cross-device link|\bEXDEV\b|\b(?:errno|os error) 18\b/i],
  ['permission', /permission denied|operation not permitted|\bEACCES\b|\bEPERM\b|\b(?:errno|os error) (?:13|1)\b/i],
]

/** Each nominee is judged on the disk; a command may write whatever it likes. */
const MOST = 100
/** No path is longer, and a line without an end must not be searched over and over. */
const LONGEST = 4_096

export function nominate(stderr: string): Nominee[] {
  const found = new Map<string, Nominee>()
  for (const line of linesOf(stderr)) {
    const reason = reasonOf(line)
    if (!reason) continue
    for (const path of pathsIn(line, reason.at)) found.set(`${reason.reason} ${path}`, { path, reason: reason.reason })
    if (found.size >= MOST) break
  }
  return [...found.values()].slice(0, MOST)
}

function linesOf(text: string): string[] {
  // oxlint-disable-next-line no-control-regex -- colours are control characters
  return text.split(/[\r\n]+/).map((line) => line.slice(0, LONGEST).replace(/\u001b\[[0-9;]*m/g, ''))
}

function reasonOf(line: string): { reason: Reason; at: number } | undefined {
  for (const [reason, pattern] of REASONS) {
    const at = line.search(pattern)
    if (at !== -1) return { reason, at }
  }
  return undefined
}

/** The clearest form that the line has: in quotes; before the reason; after it, if absolute. */
function pathsIn(line: string, at: number): string[] {
  const quoted = quotedIn(line)
  // Node prints the fields of an error, `code: 'EROFS'` among them.
  if (quoted.length > 0) return quoted.filter((text) => !/^E[A-Z0-9]+$/.test(text))
  const before = pathBefore(line.slice(0, at))
  if (before !== undefined) return [before]
  const after = /\s(\/[^\s:(]+)/.exec(line.slice(at))?.[1]
  return after === undefined ? [] : [after]
}

/** A quote opens after something that is no letter and closes before something that is none: "couldn't" and '/a/it's' are told apart. */
const QUOTED =
  /(?<![\p{L}\p{N}])(?:['‘`](.{1,1024}?)['’`]|["“„](.{1,1024}?)["”“]|«\s?(.{1,1024}?)\s?»)(?=$|[\s:;)\]}>]|[.,](?:$|\s))/gu

/** Where a name itself has an apostrophe, coreutils writes `'\''`. */
const ESCAPED_QUOTE = String.raw`'\''`

function quotedIn(line: string): string[] {
  const found = line.replaceAll(ESCAPED_QUOTE, '\u0000').matchAll(QUOTED)
  return [...found].map((match) => (match[1] ?? match[2] ?? match[3] ?? '').replaceAll('\u0000', "'"))
}

/** `program: path: reason`, `program: path: Cannot open: reason`, `program: cannot create path: reason`, `path (reason)`. */
function pathBefore(text: string): string | undefined {
  const parts = text.replace(/[\s:([]+$/, '').split(/:\s+/)
  while (parts.length > 1 && /^(?:cannot|can't|could not|unable to|failed to) \w+$/i.test(parts.at(-1) ?? ''))
    parts.pop()
  const last = (parts.at(-1) ?? '').trim()
  const absolute = /(?:^|\s)(\/.*)$/.exec(last)?.[1]
  if (absolute !== undefined) return absolute
  // The first part names the program, unless it looks like a path.
  if (last === '' || (parts.length === 1 && !last.includes('/'))) return undefined
  return /^(?:can|could|unable|failed|error|fatal|warning)\b/i.test(last) ? last.split(/\s+/).at(-1) : last
}
