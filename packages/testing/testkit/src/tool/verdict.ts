// How a check ends other than by passing. Internal: callers get reports.
import { inspect } from 'node:util'
import { errorMessage } from '@deepseek-ai/cordis'

/** The tool broke the contract. */
export class Broken extends Error {
  readonly example: string | undefined

  constructor(reason: string, example?: string) {
    super(reason)
    this.example = example
  }
}

/** There is nothing to check, or nothing to check it with. */
export class NotChecked extends Error {}

/** Ends the check as failed. `example` is the input that showed it. */
export function fail(reason: string, ...example: readonly unknown[]): never {
  throw new Broken(reason, example.length === 0 ? undefined : example.map(shown).join(', '))
}

export function skip(reason: string): never {
  throw new NotChecked(reason)
}

const MAX_SHOWN = 300

/** Short text of any value: JSON where it is JSON. Total. */
export function shown(value: unknown): string {
  let text: string
  try {
    text = JSON.stringify(value) ?? inspect(value)
  } catch {
    text = inspect(value, { depth: 2, breakLength: Infinity }) // a cycle, a bigint, a hostile getter
  }
  const points = Array.from(text.slice(0, MAX_SHOWN * 2))
  if (points.length <= MAX_SHOWN) return wellFormed(text)
  return `${wellFormed(points.slice(0, MAX_SHOWN).join(''))}… (${text.length} characters)`
}

function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\u{fffd}')
}

/** Class and message of anything thrown. */
export function thrownText(thrown: unknown): string {
  return thrown instanceof Error ? `${thrown.name}: ${errorMessage(thrown)}` : errorMessage(thrown)
}
