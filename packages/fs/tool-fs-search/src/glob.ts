// The body of `glob`: from arguments to the canonical value with its receipt.
import { statSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import type { ToolExecution } from '@deepseek-ai/dsh-tools'
import { CENSUS_UP_TO, census } from './census.ts'
import { isComplete } from './completeness.ts'
import { conclude } from './conclude.ts'
import { SearchError } from './errors.ts'
import { filterOf } from './filter.ts'
import { FirstFew } from './first-few.ts'
import { Folders, isBehind } from './folders.ts'
import type { GlobArgs, GlobValue } from './glob-schema.ts'
import { truncation, type GrepSetup } from './grep.ts'
import { keepLines, pageBudget } from './keep.ts'
import { PathList } from './path-list.ts'
import { compareBytes, comparePaths, type PathKey } from './path-order.ts'
import { placeOf, type Place } from './place.ts'
import { runRipgrep } from './ripgrep.ts'
import { deniedReads } from './services.ts'

interface Named {
  readonly path: PathKey
  /** Milliseconds since the epoch; 0 where it does not matter. */
  readonly changed: number
}

const DOT = 46
const SLASH = 47
const FOLDERS_TOLD = 10

/** Rejects with a `SearchError`, and as `ctx.sandboxPolicy.resolve` does. */
export async function glob(setup: GrepSetup, args: GlobArgs, exec: ToolExecution): Promise<GlobValue> {
  const { services, config } = setup
  const deadline = performance.now() + config.timeoutMs
  const { path, pattern } = splitPattern(args)
  const place = await placeOf(path, exec.agent?.cwd, await deniedReads(services, exec.agent))
  if (place.isFile) {
    throw new SearchError(`${place.shown} is a file; "path" names a folder to look in`, 'SEARCH_NOT_A_FOLDER')
  }
  const globs = [pattern, ...(args.exclude ?? []).map((each) => `!${each}`)]
  const filter = filterOf(
    { globs, includeIgnored: args.include_ignored === true, maxFileBytes: 0, hiddenBy: 'check' },
    place,
  )
  const { order = 'path', offset = 0, limit = config.globLimit } = args
  const keeps = services.spill !== undefined && offset === 0 && exec.parent === undefined
  const few = new FirstFew<Named>(offset + limit, order === 'newest' ? newest : byPath, keeps ? config.countUpTo : 0)
  const folders = new Folders()
  const list = new PathList((bytes, begin, end) => {
    const start = bytes[begin] === DOT && bytes[begin + 1] === SLASH ? begin + 2 : begin
    if (!filter.acceptsAll && !filter.accepts(bytes.toString('latin1', start, end))) return
    const folder = folders.of(bytes, start, end)
    folder.files++
    const { bound } = few
    if (bound !== undefined && order === 'path' && !few.isHolding) {
      if (isBehind(folder, bound.path) || compareBytes(bytes, start, end, bound.path) >= 0) return few.pass()
    }
    const path = bytes.toString('latin1', start, end)
    few.add({ path, changed: order === 'newest' ? changedAt(place, path) : 0 })
  })
  const end = await runRipgrep({
    args: ['--files', '--null', ...filter.args, '--', place.target],
    cwd: place.folder,
    signal: exec.signal,
    deadline,
    read: (chunk) => {
      list.read(chunk)
      return false
    },
  })
  const ending = conclude(end, place, config.timeoutMs, few.total > 0)
  const paths = fitting(few.items().slice(offset, offset + limit), place, pageBudget(services, exec))
  const truncated = truncation(paths.length, offset, few.total, end.by === 'done', end)
  const all = few.all()
  if (truncated !== undefined && all !== undefined && offset === 0) {
    const file = keepLines(services, exec, 'glob-results', () => all.map((each) => place.show(each.path)))
    if (file !== undefined) truncated.file = file
  }
  const counted = end.by === 'done' && list.count <= CENSUS_UP_TO
  const left = await census({ place, filter, signal: exec.signal, deadline, counted })
  const rest = {
    searched: null,
    skipped: [...left, ...ending.skipped],
    unreadable: [...ending.unreadable],
    ...(ending.stopped === undefined ? {} : { stopped: ending.stopped }),
    ...(truncated === undefined ? {} : { truncated }),
  }
  return {
    path: place.shown,
    order,
    paths,
    total: few.total,
    ...(truncated === undefined ? {} : { folders: fullest(folders, place) }),
    completeness: { complete: isComplete(rest), ...rest },
  }
}

function fullest(folders: Folders, place: Place): { path: string; count: number }[] {
  const shown = (prefix: PathKey): string => (prefix === '' ? place.shown : place.show(prefix))
  return folders.fullest(FOLDERS_TOLD).map(({ prefix, files }) => ({ path: shown(prefix), count: files }))
}

/** An absolute pattern names its folder itself, up to the first name that is not plain. */
function splitPattern({ path, pattern }: GlobArgs): { path: string | undefined; pattern: string } {
  const isOutside = isAbsolute(pattern) || /^(?:~|\.\.)\//.test(pattern)
  if (path !== undefined || !isOutside) return { path, pattern }
  const names = pattern.split('/')
  const special = names.findIndex((name) => /[*?[\]{}\\!]/.test(name))
  const depth = special === -1 ? names.length - 1 : special
  const rest = names.slice(depth).join('/')
  return { path: names.slice(0, depth).join('/') || '/', pattern: `./${rest === '' ? '**' : rest}` }
}

function byPath(left: Named, right: Named): number {
  return comparePaths(left.path, right.path)
}

function newest(left: Named, right: Named): number {
  return right.changed - left.changed || byPath(left, right)
}

function changedAt({ folder }: Place, key: PathKey): number {
  const path = Buffer.from(`${Buffer.from(folder).toString('latin1')}/${key}`, 'latin1')
  try {
    return statSync(path).mtimeMs
  } catch {
    return 0 // gone since: last
  }
}

function fitting(files: readonly Named[], place: Place, budget: number): string[] {
  const page: string[] = []
  let bytes = 0
  for (const { path } of files) {
    const shown = place.show(path)
    bytes += Buffer.byteLength(shown) + 1
    if (bytes > budget && page.length > 0) break
    page.push(shown)
  }
  return page
}
