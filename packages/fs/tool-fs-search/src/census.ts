// Counts what a search leaves out by rule, and the links, which are not followed. Only for small trees: it is a second walk.
import { readdirSync } from 'node:fs'
import type { Skipped, SkipRule } from './completeness.ts'
import type { Filter } from './filter.ts'
import { FirstFew } from './first-few.ts'
import { comparePaths, keyOfText, type PathKey } from './path-order.ts'
import { PathList } from './path-list.ts'
import type { Place } from './place.ts'
import { runRipgrep, type Skip } from './ripgrep.ts'

/** A search that named more files than this has no census, for it would double its time. */
export const CENSUS_UP_TO = 10_000
const MAX_FILES = 20_000
const MAX_SKIPS = 2000
const MAX_FOLDERS = 1000
const MAX_MS = 1000
const EXAMPLES = 5

export interface CensusRequest {
  readonly place: Place
  readonly filter: Filter
  readonly signal: AbortSignal
  readonly deadline: number
  /** Whether the tree is small enough to look twice. */
  readonly counted: boolean
}

/** The rules that were in force, each with what it left out; those that left out nothing are not named. Never rejects but for a cancellation. */
export async function census(request: CensusRequest): Promise<Skipped[]> {
  const { place, filter } = request
  if (place.isFile) return []
  const denied: Skipped[] =
    place.deniedThere.length === 0
      ? []
      : [
          {
            rule: 'denied',
            count: place.deniedThere.length,
            examples: place.deniedThere.slice(0, EXAMPLES).map((path) => place.show(keyOfText(path))),
          },
        ]
  const rules = rulesOf(filter)
  const uncounted = [...rules, 'link' as const].map((rule): Skipped => ({ rule, count: null }))
  if (!request.counted) return [...uncounted, ...denied]
  const counts = new Counts(place)
  const list = new PathList(() => {})
  const { by } = await runRipgrep({
    args: ['--files', '--null', ...filter.ruleArgs, '.'],
    cwd: place.folder,
    signal: request.signal,
    deadline: Math.min(request.deadline, performance.now() + MAX_MS),
    read: (chunk) => {
      list.read(chunk)
      return list.count > MAX_FILES
    },
    skipped: (skip) => {
      counts.leave(keyOfText(skip.path), ruleOf(skip, filter))
      return counts.left.size > MAX_SKIPS
    },
  })
  if (by !== 'done') return [...uncounted, ...denied]
  const links: Skipped[] = countLinks(place, counts) ? counts.skipped(['link']) : [{ rule: 'link', count: null }]
  return [...counts.skipped(rules), ...links, ...denied]
}

function rulesOf({ skipsHidden, skipsIgnored, versionControl, ruleArgs }: Filter): SkipRule[] {
  return [
    ...(skipsHidden ? (['hidden'] as const) : []),
    ...(skipsIgnored ? (['ignored'] as const) : []),
    ...(versionControl.size > 0 ? (['version-control'] as const) : []),
    ...(ruleArgs.some((arg) => arg.startsWith('--max-filesize')) ? (['too-large'] as const) : []),
  ]
}

/** Undefined for what the caller excluded and for what is told of by other means. */
function ruleOf({ rule, glob }: Skip, { versionControl }: Filter): SkipRule | undefined {
  if (rule !== 'excluded') return rule
  return glob !== undefined && versionControl.has(glob) ? 'version-control' : undefined
}

/** Walks what was not left out. False when there were too many folders to look into. */
function countLinks({ folder }: Place, counts: Counts): boolean {
  const root = Buffer.from(folder).toString('latin1')
  const folders: PathKey[] = ['']
  for (let at = 0; at < folders.length; at++) {
    if (at === MAX_FOLDERS) return false
    const prefix = folders[at] === '' ? '' : `${folders[at]}/`
    try {
      const path = Buffer.from(`${root}/${prefix}`, 'latin1')
      for (const entry of readdirSync(path, { withFileTypes: true, encoding: 'latin1' })) {
        const key = prefix + entry.name
        if (counts.left.has(key)) continue
        if (entry.isDirectory()) folders.push(key)
        else if (entry.isSymbolicLink()) counts.add('link', key)
      }
    } catch {
      // Gone or closed: what cannot be read is told of by the search itself.
    }
  }
  return true
}

class Counts {
  /** Whatever ripgrep did not walk into. */
  readonly left = new Set<PathKey>()
  private readonly place: Place
  private readonly byRule = new Map<SkipRule, FirstFew<PathKey>>()

  constructor(place: Place) {
    this.place = place
  }

  leave(key: PathKey, rule: SkipRule | undefined): void {
    this.left.add(key)
    if (rule !== undefined) this.add(rule, key)
  }

  add(rule: SkipRule, key: PathKey): void {
    const known = this.byRule.get(rule)
    const few = known ?? new FirstFew<PathKey>(EXAMPLES, comparePaths)
    if (known === undefined) this.byRule.set(rule, few)
    few.add(key)
  }

  skipped(rules: readonly SkipRule[]): Skipped[] {
    return rules.flatMap((rule): Skipped[] => {
      const few = this.byRule.get(rule)
      if (few === undefined) return []
      return [{ rule, count: few.total, examples: few.items().map((key) => this.place.show(key)) }]
    })
  }
}
