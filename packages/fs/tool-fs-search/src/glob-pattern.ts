// Globs over paths, in ripgrep's syntax: `*` and `?` stay within a name, `**` spans folders, `[a-z]`, `[!a]`, `{a,b}`, `\` escapes.
// Matched here and not by ripgrep's `--glob`, because that one overrides the ignore rules for whatever it matches.
import { SearchError } from './errors.ts'

type Token =
  | { readonly kind: 'char'; readonly char: string }
  | { readonly kind: 'any' }
  | { readonly kind: 'star' }
  | { readonly kind: 'class'; readonly negated: boolean; readonly ranges: readonly (readonly [string, string])[] }

/** One name of a path, or any number of them. */
type Segment = '**' | readonly Token[]

const MAX_ALTERNATIVES = 256

export interface GlobPattern {
  matches(path: string): boolean
  /** Globs of which every matching file name matches at least one. Undefined when nothing is known of names. */
  readonly names: readonly string[] | undefined
  /** It matches every path. */
  readonly matchesAll: boolean
  /** It says something of names only, nothing of folders. */
  readonly byName: boolean
  /** It names a file or folder that begins with a dot, by that dot. */
  readonly namesHidden: boolean
}

interface Alternative {
  readonly segments: readonly Segment[]
  readonly name: string | undefined
  readonly namesHidden: boolean
  /** Every match ends with this. */
  readonly tail: string
}

/** A pattern without `/` matches names at any depth; one with a `/` matches from the folder that is searched. Throws `SEARCH_INVALID_PATTERN`. */
export function compileGlob(pattern: string): GlobPattern {
  if (pattern.includes('\0')) throw invalid(pattern, 'it holds a NUL, which no name does')
  const alternatives = expandBraces(pattern).map((each) => compileOne(each, pattern))
  const names = alternatives.map(({ name }) => name)
  return {
    matches: (path) => alternatives.some((each) => matchAlternative(each, path)),
    names: names.every((name) => name !== undefined) ? names : undefined,
    matchesAll: alternatives.some(matchesAll),
    byName: alternatives.every(({ segments: [first, , ...more] }) => first === '**' && more.length === 0),
    namesHidden: alternatives.some(({ namesHidden }) => namesHidden),
  }
}

function matchesAll({ segments: [first, second, ...more] }: Alternative): boolean {
  if (first !== '**' || second === undefined || second === '**' || more.length > 0) return false
  return second.length === 1 && second[0]?.kind === 'star'
}

function compileOne(text: string, pattern: string): Alternative {
  const anchored = text.includes('/')
  const parts = text.replace(/^(?:\.?\/)+/, '').split('/')
  // A folder stands for what is inside.
  if (parts.at(-1) === '' || parts.at(-1) === '.') parts[parts.length - 1] = '**'
  const segments: Segment[] = anchored ? [] : ['**']
  for (const part of parts) {
    if (part === '' || part === '.') continue
    if (part === '..')
      throw invalid(pattern, 'it leads out of the folder that is searched; name another "path" instead')
    if (part !== '**') segments.push(tokensOf(part, pattern))
    else if (segments.at(-1) !== '**') segments.push('**')
  }
  // `**` at the end stands for what is inside, not for the folder itself.
  if (segments.at(-1) === '**') segments.push([{ kind: 'star' }])
  const last = parts.at(-1)
  return {
    segments,
    name: last === undefined || last.includes('**') || /^include.*:/.test(last) ? undefined : last,
    namesHidden: parts.some((part) => /^\\?\../.test(part)),
    tail: tailOf(segments.at(-1)),
  }
}

/** The plain characters that a pattern ends with. */
function tailOf(segment: Segment | undefined): string {
  let tail = ''
  if (segment === undefined || segment === '**') return tail
  for (const token of segment.toReversed()) {
    if (token.kind !== 'char') break
    tail = token.char + tail
  }
  return tail
}

function matchAlternative({ segments, tail }: Alternative, path: string): boolean {
  if (!path.endsWith(tail)) return false
  const [first, second] = segments
  if (first !== '**' || segments.length !== 2 || second === undefined || second === '**') {
    return matchSegments(segments, path.split('/'))
  }
  return matchName(second, path.slice(path.lastIndexOf('/') + 1))
}

function tokensOf(part: string, pattern: string): Token[] {
  const tokens: Token[] = []
  for (let at = 0; at < part.length;) {
    const char = String.fromCodePoint(part.codePointAt(at)!)
    at += char.length
    if (char === '*') {
      if (tokens.at(-1)?.kind !== 'star') tokens.push({ kind: 'star' })
    } else if (char === '?') tokens.push({ kind: 'any' })
    else if (char === '\\') {
      if (at >= part.length) throw invalid(pattern, 'it ends with a backslash')
      const escaped = String.fromCodePoint(part.codePointAt(at)!)
      at += escaped.length
      tokens.push({ kind: 'char', char: escaped })
    } else if (char === '[') {
      const { token, end } = classAt(part, at, pattern)
      tokens.push(token)
      at = end
    } else tokens.push({ kind: 'char', char })
  }
  return tokens
}

function classAt(part: string, start: number, pattern: string): { token: Token; end: number } {
  const negated = part[start] === '!' || part[start] === '^'
  const from = negated ? start + 1 : start
  // A bracket right after the opening one is a member.
  const close = part.indexOf(']', from + 1)
  if (close === -1) throw invalid(pattern, 'a "[" is not closed')
  const members = Array.from(part.slice(from, close))
  const ranges: [string, string][] = []
  for (let at = 0; at < members.length;) {
    const low = members[at]!
    const isRange = members[at + 1] === '-' && at + 2 < members.length
    const high = isRange ? members[at + 2]! : low
    if (low > high) throw invalid(pattern, `the range ${low}-${high} is empty`)
    ranges.push([low, high])
    at += isRange ? 3 : 1
  }
  return { token: { kind: 'class', negated, ranges }, end: close + 1 }
}

/** The classic linear walk: on a mismatch only the last `**` can take one more name. */
function matchSegments(pattern: readonly Segment[], path: readonly string[]): boolean {
  let at = 0
  let star = -1
  let resume = 0
  for (let index = 0; index < path.length;) {
    const segment = pattern[at]
    if (segment === '**') {
      star = at++
      resume = index
    } else if (segment !== undefined && matchName(segment, path[index]!)) {
      at++
      index++
    } else if (star !== -1) {
      at = star + 1
      index = ++resume
    } else return false
  }
  while (pattern[at] === '**') at++
  return at === pattern.length
}

function matchName(tokens: readonly Token[], name: string): boolean {
  let at = 0
  let star = -1
  let resume = 0
  for (let index = 0; index < name.length;) {
    const token = tokens[at]
    const char = String.fromCodePoint(name.codePointAt(index)!)
    if (token?.kind === 'star') {
      star = at++
      resume = index
    } else if (token !== undefined && matchChar(token, char)) {
      at++
      index += char.length
    } else if (star !== -1) {
      at = star + 1
      index = ++resume
    } else return false
  }
  while (tokens[at]?.kind === 'star') at++
  return at === tokens.length
}

function matchChar(token: Token, char: string): boolean {
  if (token.kind === 'char') return token.char === char
  if (token.kind === 'class') {
    return token.ranges.some(([low, high]) => low <= char && char <= high) !== token.negated
  }
  return true
}

/** `{a,b}`, nested too, as the list of what it stands for. */
function expandBraces(pattern: string): string[] {
  const done: string[] = []
  const open = [pattern]
  while (open.length > 0) {
    const text = open.pop()!
    const group = firstGroup(text, pattern)
    if (group === undefined) done.push(text)
    else for (const option of group.options.toReversed()) open.push(group.before + option + group.after)
    if (done.length + open.length > MAX_ALTERNATIVES) {
      throw invalid(pattern, `its braces stand for more than ${MAX_ALTERNATIVES} patterns`)
    }
  }
  return done
}

function firstGroup(text: string, pattern: string): { before: string; options: string[]; after: string } | undefined {
  let depth = 0
  let start = -1
  let from = 0
  const options: string[] = []
  for (let at = 0; at < text.length; at++) {
    const char = text[at]
    if (char === '\\') at++
    else if (char === '[') at = Math.max(at, text.indexOf(']', at + 2))
    else if (char === '{') {
      if (depth++ === 0) start = at
      if (depth === 1) from = at + 1
    } else if (char === ',' && depth === 1) {
      options.push(text.slice(from, at))
      from = at + 1
    } else if (char === '}') {
      if (depth-- === 0) throw invalid(pattern, 'a "}" has no "{"')
      if (depth > 0) continue
      options.push(text.slice(from, at))
      return { before: text.slice(0, start), options, after: text.slice(at + 1) }
    }
  }
  if (depth > 0) throw invalid(pattern, 'a "{" is not closed')
  return undefined
}

function invalid(pattern: string, reason: string): SearchError {
  return new SearchError(`the glob ${JSON.stringify(pattern)} is not valid: ${reason}`, 'SEARCH_INVALID_PATTERN')
}
