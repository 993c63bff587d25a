// Which files a search is about: globs and a type, hidden and ignored ones, and what a policy denies. As arguments of ripgrep, which
// prune what is walked, and as a check of each path that it names.
import { SearchError } from './errors.ts'
import { compileGlob } from './glob-pattern.ts'
import { keyOfText, shownPath, type PathKey } from './path-order.ts'
import type { Place } from './place.ts'

export interface FilterRequest {
  /** Those that begin with `!` exclude. */
  readonly globs: readonly string[]
  readonly type?: string | undefined
  readonly includeIgnored: boolean
  /** 0: any. */
  readonly maxFileBytes: number
  /**
   * What keeps out the hidden files that a type matches, which ripgrep shows: another glob for its walk, which then counts right what it
   * searches, or a check of each path, which is cheaper where nothing is searched.
   */
  readonly hiddenBy: 'walk' | 'check'
}

export interface Filter {
  readonly args: readonly string[]
  /** Like `args`, with nothing but the rules about what is hidden, ignored, excluded, denied or too large. */
  readonly ruleArgs: readonly string[]
  /** Hidden files are left out. */
  readonly skipsHidden: boolean
  readonly skipsIgnored: boolean
  /** Exclusions of these globs are about version control. */
  readonly versionControl: ReadonlySet<string>
  /** Whether ripgrep's own walk is the whole filter; otherwise it looks at more than was asked for. */
  readonly exact: boolean
  /** What ripgrep names needs no check. */
  readonly acceptsAll: boolean
  /** The path is one that was asked for, and no policy denies it. */
  accepts(key: PathKey): boolean
}

/** What version control keeps for itself: never what a search is about, unless a pattern names it. */
const VERSION_CONTROL = ['.git', '.hg', '.svn', '.jj']

/** Throws `SEARCH_INVALID_PATTERN`. */
export function filterOf(request: FilterRequest, place: Place): Filter {
  const { globs, type, includeIgnored, maxFileBytes, hiddenBy } = request
  if (type?.includes('\0') === true) {
    throw new SearchError('the type holds a NUL, which no type does', 'SEARCH_INVALID_PATTERN')
  }
  const excluded = globs.filter((glob) => glob.startsWith('!')).map((glob) => withoutDotSlash(glob.slice(1)))
  excluded.forEach(compileGlob) // ripgrep would say less of what is wrong with them
  const included = globs.filter((glob) => !glob.startsWith('!')).map((glob) => ({ glob, ...compileGlob(glob) }))
  const looksIntoHidden = includeIgnored || included.some(({ namesHidden }) => namesHidden)
  const versionControl = looksIntoHidden
    ? VERSION_CONTROL.filter((name) => !included.some(({ glob }) => glob.split('/').includes(name)))
    : []
  const ruleArgs = [
    ...(includeIgnored ? ['--no-ignore'] : []),
    ...(looksIntoHidden ? ['--hidden'] : []),
    ...(maxFileBytes > 0 ? [`--max-filesize=${maxFileBytes}`] : []),
    ...[...excluded, ...versionControl].map((glob) => `--glob=!${glob}`),
    ...place.denied.map((path) => `--glob=!/${escapeGlob(path)}`),
  ]
  const narrowing = included.some(({ matchesAll }) => matchesAll) ? [] : included
  const names = type === undefined ? namesOf(narrowing) : undefined
  const showsHidden = !looksIntoHidden && (type !== undefined || names !== undefined)
  return {
    ruleArgs,
    args: [
      ...ruleArgs,
      ...(showsHidden && hiddenBy === 'walk' ? ['--glob=!.*'] : []),
      ...(type === undefined ? [] : [`--type=${type}`]),
      ...(names === undefined ? [] : [...names.map((name) => `--type-add=dsh:${name}`), '--type=dsh']),
    ],
    skipsHidden: !looksIntoHidden,
    skipsIgnored: !includeIgnored,
    versionControl: new Set(versionControl.map((name) => `!${name}`)),
    exact: narrowing.length === 0 || (names !== undefined && narrowing.every(({ byName }) => byName)),
    acceptsAll:
      place.isFile || (narrowing.length === 0 && place.denied.length === 0 && !(showsHidden && hiddenBy === 'check')),
    accepts: acceptsOf(place, narrowing, showsHidden && hiddenBy === 'check'),
  }
}

function acceptsOf(
  place: Place,
  included: readonly { matches(path: string): boolean }[],
  dropsHidden: boolean,
): Filter['accepts'] {
  // A file that was named is searched whatever the rules say.
  if (place.isFile) return () => true
  // ripgrep does not go there; a name that its globs cannot say must not slip through.
  const denied = place.denied.map(keyOfText)
  return (key) => {
    if (denied.some((path) => key === path || key.startsWith(`${path}/`))) return false
    if (dropsHidden && key.charCodeAt(key.lastIndexOf('/') + 1) === DOT) return false
    if (included.length === 0) return true
    const path = shownPath(key)
    return included.some((each) => each.matches(path))
  }
}

const DOT = 46

/** Globs for names that every file that is asked for matches one of. */
function namesOf(included: readonly { names: readonly string[] | undefined }[]): string[] | undefined {
  if (included.length === 0 || included.some(({ names }) => names === undefined)) return undefined
  return [...new Set(included.flatMap((each) => each.names ?? []))]
}

function withoutDotSlash(glob: string): string {
  return glob.replace(/^(?:\.\/)+/, '')
}

function escapeGlob(path: string): string {
  return path.replace(/[^A-Za-z0-9_./\u0080-\uffff-]/g, String.raw`\$&`)
}
