// The body of `grep`: from arguments to the canonical value with its receipt.
import type { ToolExecution } from '@deepseek-ai/dsh-tools'
import { CENSUS_UP_TO, census } from './census.ts'
import { isComplete, type Completeness, type Skipped, type Truncated } from './completeness.ts'
import { conclude, OtherEngineNeeded } from './conclude.ts'
import type { SearchConfig } from './config.ts'
import { SearchError } from './errors.ts'
import { filesWithMatches, matchCounts, type FoundFile } from './file-search.ts'
import { filterOf, type Filter } from './filter.ts'
import type { GrepArgs, GrepFile, GrepLine, GrepValue } from './grep-schema.ts'
import type { Row } from './hits.ts'
import { keepLines, pageBudget } from './keep.ts'
import { searchMatches } from './match-search.ts'
import { pageOf, type FileRows } from './page.ts'
import { comparePaths } from './path-order.ts'
import { placeOf, type Place } from './place.ts'
import type { RipgrepEnd } from './ripgrep.ts'
import { deniedReads, type SearchServices } from './services.ts'

export interface GrepSetup {
  readonly services: SearchServices
  readonly config: SearchConfig
}

/** Everything that one call works with. */
interface Call extends GrepSetup {
  readonly args: GrepArgs
  readonly exec: ToolExecution
  readonly place: Place
  readonly filter: Filter
  readonly limit: number
  readonly offset: number
  readonly deadline: number
  readonly engine: 'default' | 'pcre2'
}

/** Rejects with a `SearchError`, and as `ctx.sandboxPolicy.resolve` does. */
export async function grep(setup: GrepSetup, args: GrepArgs, exec: ToolExecution): Promise<GrepValue> {
  const { services, config } = setup
  const deadline = performance.now() + config.timeoutMs
  assertPattern(args)
  const place = await placeOf(args.path, exec.agent?.cwd, await deniedReads(services, exec.agent))
  const globs = typeof args.glob === 'string' ? [args.glob] : (args.glob ?? [])
  const filter = filterOf(
    {
      globs,
      type: args.type,
      includeIgnored: args.include_ignored === true,
      maxFileBytes: config.maxFileBytes,
      hiddenBy: 'walk',
    },
    place,
  )
  const call: Call = {
    ...setup,
    args,
    exec,
    place,
    filter,
    limit: args.limit ?? config.grepLimit,
    offset: args.offset ?? 0,
    deadline,
    engine: 'default',
  }
  const search = (args.mode ?? 'matches') === 'matches' ? lines : files
  try {
    return await search(call)
  } catch (error) {
    // Not asked for both engines at once: what neither can do the other one would accept, and never find.
    if (!(error instanceof OtherEngineNeeded)) throw error
    return await search({ ...call, engine: 'pcre2' })
  }
}

function assertPattern({ pattern, multiline, literal }: GrepArgs): void {
  if (pattern.includes('\0')) {
    throw new SearchError(
      'the pattern holds a NUL; files with NULs are binary and their lines are not shown, so search for the text around it',
      'SEARCH_INVALID_PATTERN',
    )
  }
  if (multiline !== true && (pattern.includes('\n') || (literal !== true && ESCAPED_BREAK.test(pattern)))) {
    throw new SearchError(
      'the pattern holds a line break, and a match lies within one line; set multiline to let it span lines',
      'SEARCH_INVALID_PATTERN',
    )
  }
}

/** The other engine takes it, and never finds it. */
const ESCAPED_BREAK = /(?<!\\)(?:\\\\)*\\n/

function argsOf({ args, filter, place, engine }: Call): string[] {
  const { pattern, literal, ignore_case, multiline } = args
  return [
    '--crlf',
    ...(literal === true ? ['--fixed-strings'] : [`--engine=${engine}`]),
    ...(ignore_case === true ? ['--ignore-case'] : []),
    ...(multiline === true ? ['--multiline', '--multiline-dotall'] : []),
    ...filter.args,
    `--regexp=${pattern}`,
    '--',
    place.target,
  ]
}

async function lines(call: Call): Promise<GrepValue> {
  const { args, exec, services, config, place, filter, limit, offset, deadline } = call
  const before = args.before ?? args.context ?? 0
  const after = args.after ?? args.context ?? 0
  const budget = pageBudget(services, exec)
  const found = await searchMatches({
    place,
    filter,
    offset,
    limit,
    budget,
    deadline,
    signal: exec.signal,
    args: [...(before + after > 0 ? [`--before-context=${before}`, `--after-context=${after}`] : []), ...argsOf(call)],
    countUpTo: config.countUpTo,
    maxLineLength: config.maxLineLength,
  })
  const page = pageOf(found.files, { offset: offset - found.from, limit, budget, before, after })
  const hits = found.total > 0 || found.binary.length > 0
  const truncated = truncation(page.shown, offset, found.total, found.exact, found.end)
  if (truncated !== undefined && found.all && offset === 0) {
    const file = keepLines(services, exec, 'grep-results', () => wholeText(found.files, place))
    if (file !== undefined) truncated.file = file
  }
  const binary: Skipped[] =
    found.binary.length === 0
      ? []
      : [
          {
            rule: 'binary',
            count: found.binary.length,
            examples: found.binary
              .toSorted(comparePaths)
              .slice(0, 5)
              .map((path) => place.show(path)),
          },
        ]
  return {
    mode: 'matches',
    path: place.shown,
    files: page.files.map(({ path, rows }) => ({ path: place.show(path), matches: rows.map(lineOf) })),
    total: found.total,
    completeness: await receipt(call, { ...found, hits, truncated, skipped: binary }),
  }
}

async function files(call: Call): Promise<GrepValue> {
  const { args, exec, services, config, place, filter, limit, offset, deadline } = call
  const counts = args.mode === 'count'
  const keeps = services.spill !== undefined && offset === 0 && exec.parent === undefined
  const found = await (counts ? matchCounts : filesWithMatches)({
    args: argsOf(call),
    place,
    filter,
    deadline,
    signal: exec.signal,
    keep: offset + limit,
    holdUpTo: keeps ? config.countUpTo : 0,
  })
  const page = fitting(found.files.slice(offset, offset + limit), place, pageBudget(services, exec))
  const truncated = truncation(page.length, offset, found.total, found.end.by === 'done', found.end)
  const { all } = found
  if (truncated !== undefined && all !== undefined && offset === 0) {
    const file = keepLines(services, exec, 'grep-files', () => all.map((each) => fileText(each, place)))
    if (file !== undefined) truncated.file = file
  }
  return {
    mode: counts ? 'count' : 'files',
    path: place.shown,
    files: page,
    total: found.lines,
    completeness: await receipt(call, { ...found, hits: found.total > 0, truncated, skipped: [] }),
  }
}

interface Facts {
  readonly end: RipgrepEnd
  readonly searched: number | null
  readonly hits: boolean
  readonly truncated: Truncated | undefined
  readonly skipped: readonly Skipped[]
}

async function receipt(call: Call, facts: Facts): Promise<Completeness> {
  const { place, filter, exec, deadline, config } = call
  const { end, hits, truncated } = facts
  const ending = conclude(end, place, config.timeoutMs, hits)
  const counted = end.by === 'done' && facts.searched !== null && facts.searched <= CENSUS_UP_TO
  const left = await census({ place, filter, signal: exec.signal, deadline, counted })
  const rest = {
    // ripgrep looked at more than was asked for where a glob is about folders.
    searched: filter.exact || place.isFile ? facts.searched : null,
    skipped: [...facts.skipped, ...left, ...ending.skipped],
    unreadable: [...ending.unreadable],
    ...(ending.stopped === undefined ? {} : { stopped: ending.stopped }),
    ...(truncated === undefined ? {} : { truncated }),
  }
  return { complete: isComplete(rest), ...rest }
}

/** Undefined when all that there is was shown. */
export function truncation(
  shown: number,
  offset: number,
  total: number,
  exact: boolean,
  { by }: RipgrepEnd,
): Truncated | undefined {
  if (exact && offset === 0 && shown >= total) return undefined
  const more = !exact || offset + shown < total
  // Pages of a search that ran out of time would not fit together.
  return { shown, total, exact, next: more && by !== 'deadline' ? offset + shown : null }
}

function lineOf({ line, text, ranges, context }: Row): GrepLine {
  return {
    line,
    text,
    ...(ranges.length === 0 ? {} : { ranges: ranges.map(([start, end]) => [start, end]) }),
    ...(context ? { context: true } : {}),
  }
}

function fitting(files: readonly FoundFile[], place: Place, budget: number): GrepFile[] {
  const page: GrepFile[] = []
  let bytes = 0
  for (const { path, count } of files) {
    const shown = place.show(path)
    bytes += Buffer.byteLength(shown) + 12
    if (bytes > budget && page.length > 0) break
    page.push({ path: shown, ...(count === undefined ? {} : { count }) })
  }
  return page
}

function fileText({ path, count }: FoundFile, place: Place): string {
  return count === undefined ? place.show(path) : `${place.show(path)}: ${count}`
}

function* wholeText(files: readonly FileRows[], place: Place): Iterable<string> {
  for (const { path, rows } of files) {
    const shown = place.show(path)
    for (const { line, text, context } of rows)
      yield `${shown}${context ? '-' : ':'}${line}${context ? '-' : ':'}${text}`
  }
}
