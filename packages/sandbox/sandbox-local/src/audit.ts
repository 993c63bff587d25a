// Looks, after a command that could write, for what it left that git or a person's tools would run outside of the sandbox.
// Protection by mounts covers what was there before; this covers what was born in the call.
import { findGitPlaces } from './audit/places.ts'
import { quarantine } from './audit/quarantine.ts'
import { printable } from './audit/printable.ts'
import { traces, type Trace } from './audit/traces.ts'

const MOST = 50

/**
 * One audit goes with one command: `before()`, the command, `after()`. Commands that run at the same time may each name what the
 * other did. Looks twelve folders deep, not into `node_modules`, at no more than 20,000 folders of a root,
 * and says so when there were more. Does nothing for no roots.
 */
export class RepositoryAudit {
  private readonly roots: readonly string[]
  private readonly unseen = new Set<string>()
  private known: ReadonlyMap<string, Trace> = new Map()

  /** `roots`: absolute and real. */
  constructor(roots: readonly string[]) {
    this.roots = roots
  }

  async before(): Promise<void> {
    this.known = this.look()
  }

  /**
   * One sentence for each thing that is new or changed, at most 50, and one for each root that was not looked through whole. New hooks are moved aside, never deleted: each is made
   * non-executable and called `<name>.quarantined`, unless it lies outside the roots.
   */
  async after(): Promise<string[]> {
    const news = [...this.look()].filter(([key, trace]) => this.known.get(key)?.stamp !== trace.stamp)
    const warnings = news.map(([key, trace]) => this.warn(trace, this.known.has(key)))
    const rest = warnings.length > MOST ? [`and ${warnings.length - MOST} more of this kind`] : []
    return [...warnings.slice(0, MOST), ...rest, ...[...this.unseen].map(incomplete)]
  }

  private warn(trace: Trace, existed: boolean): string {
    if (trace.hook === undefined || existed) return `the command ${existed ? 'changed' : 'made'} ${trace.text}`
    const moved = quarantine(trace.hook, this.roots)
    return `the command made ${trace.text}${moved === undefined ? '' : `; it was moved aside as ${printable(moved)}`}`
  }

  private look(): Map<string, Trace> {
    this.unseen.clear()
    const places = this.roots.flatMap((root) => {
      const found = findGitPlaces(root)
      if (!found.complete) this.unseen.add(root)
      return found.places
    })
    return traces(places, this.roots)
  }
}

function incomplete(root: string): string {
  return `${printable(root)} has too many or too deep folders to be looked through whole: repositories that the command made or changed there may be missing here`
}
