// What the end of a run means: an error when nothing is known, a result that says what it lacks otherwise.
import type { Skipped } from './completeness.ts'
import { SearchError } from './errors.ts'
import { keyOfText } from './path-order.ts'
import type { Place } from './place.ts'
import type { RipgrepEnd } from './ripgrep.ts'

export interface Ending {
  /** Why the search ended before it was done. */
  readonly stopped?: string
  readonly unreadable: readonly string[]
  readonly skipped: readonly Skipped[]
}

const MAX_SAID = 500
const EXAMPLES = 5

/** Throws `SEARCH_INVALID_PATTERN`, `SEARCH_TIMEOUT` or `SEARCH_FAILED` when the run found nothing and cannot say that nothing is there. */
export function conclude(end: RipgrepEnd, place: Place, timeoutMs: number, found: boolean): Ending {
  const { by, complaints } = end
  const stopped = by === 'enough' ? undefined : stoppedBy(end, timeoutMs)
  if (stopped !== undefined && !found) throw failure(end, stopped, timeoutMs)
  const paths = complaints.unreadable.items().map((path) => place.show(keyOfText(path)))
  const count = complaints.unreadable.total
  const skip: Skipped = { rule: 'unreadable', count, examples: paths.slice(0, EXAMPLES) }
  return {
    ...(stopped === undefined ? {} : { stopped }),
    unreadable: paths,
    skipped: count === 0 ? [] : [by === 'done' ? skip : { ...skip, atLeast: true }],
  }
}

function stoppedBy({ by, exitCode, killedBy, complaints }: RipgrepEnd, timeoutMs: number): string | undefined {
  if (by === 'deadline') return `the limit of ${timeoutMs} ms was reached; more may be there`
  if (killedBy !== null) return `ripgrep was ended by ${killedBy}; more may be there`
  const said = complaints.text.trim().slice(0, MAX_SAID)
  // Exit code 2 with places that could not be read and nothing else is told of as such.
  if (exitCode === 2) return said === '' ? undefined : `ripgrep said: ${said}`
  return exitCode === 0 || exitCode === 1 ? undefined : `ripgrep failed with exit code ${exitCode}: ${said}`
}

function failure({ by, exitCode, complaints }: RipgrepEnd, stopped: string, timeoutMs: number): SearchError {
  if (by === 'deadline') {
    return new SearchError(
      `nothing was found within ${timeoutMs} ms, and the search was not done; name a folder further down as "path", or a narrower glob`,
      'SEARCH_TIMEOUT',
    )
  }
  const text = complaints.text.trim()
  const isInput = exitCode === 2 && /regex|pcre|parsing glob|file type|literal "\\n"/i.test(text)
  if (!isInput) return new SearchError(`the search failed: ${stopped}`, 'SEARCH_FAILED')
  const message = `${reason(text)}. ${remedy(text)}`
  return NEEDS_PCRE2.test(text) ? new OtherEngineNeeded(message) : new SearchError(message, 'SEARCH_INVALID_PATTERN')
}

/** The default engine does not have what the pattern uses, the other one may. */
export class OtherEngineNeeded extends SearchError {
  constructor(message: string) {
    super(message, 'SEARCH_INVALID_PATTERN')
  }
}

const NEEDS_PCRE2 = /Consider enabling PCRE2/

/** Without the advice about flags that follows. */
function reason(text: string): string {
  return text.replace(/\n\nConsider enabling [^]*$/, '').slice(0, 2000)
}

function remedy(text: string): string {
  if (/literal "\\n"/.test(text)) return 'Set multiline to let a match span lines'
  if (/file type/.test(text))
    return 'Types are named as ripgrep names them, e.g. ts, js, py, rust, go, md; a glob says the same'
  if (/parsing glob/.test(text)) return 'Put a backslash before a character that stands for itself'
  if (/size limit/.test(text)) return 'Use smaller repetition counts'
  return 'To search for the text as it is, set literal'
}
