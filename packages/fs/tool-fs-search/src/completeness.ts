// The receipt of a search: what was looked at, what was not and by which rule, what is missing of the results and where it is.
// As a schema, and as sentences for models and people.
import type { InferValue, ValueSchemaSpec } from '@deepseek-ai/dsh-tools'

/** Why a place was left out. A folder counts as one. */
export const SKIP_RULES = [
  'hidden',
  'ignored',
  'version-control',
  'link',
  'binary',
  'too-large',
  'denied',
  'unreadable',
] as const
export type SkipRule = (typeof SKIP_RULES)[number]

const SKIPPED = {
  type: 'object',
  properties: {
    rule: { type: 'string', enum: SKIP_RULES, required: true },
    count: {
      oneOf: [{ type: 'integer', minimum: 1 }, { type: 'null' }],
      description: 'A folder counts as one. Null: the rule was in force, and what it left out was not counted.',
      required: true,
    },
    atLeast: { type: 'boolean', const: true, description: 'There may be more than were counted.' },
    examples: { type: 'array', items: { type: 'string' }, description: 'The first few in path order.' },
  },
  additionalProperties: false,
} as const satisfies ValueSchemaSpec

const TRUNCATED = {
  type: 'object',
  description: 'Present when there are more results than these.',
  properties: {
    shown: { type: 'integer', required: true, minimum: 0 },
    total: { type: 'integer', required: true, minimum: 0 },
    exact: { type: 'boolean', description: 'False: there are at least as many as "total".', required: true },
    next: {
      oneOf: [{ type: 'integer' }, { type: 'null' }],
      description: 'The offset of the next page; null when this is the last one.',
      required: true,
    },
    file: {
      type: 'object',
      description: 'File with all results.',
      properties: { path: { type: 'string', required: true }, complete: { type: 'boolean', required: true } },
      additionalProperties: false,
    },
  },
  additionalProperties: false,
} as const satisfies ValueSchemaSpec

export const COMPLETENESS = {
  type: 'object',
  properties: {
    complete: {
      type: 'boolean',
      description:
        'Everything that was asked for was looked at, and all of it is here. Hidden and ignored files are not asked for unless include_ignored is set.',
      required: true,
    },
    searched: {
      oneOf: [{ type: 'integer', minimum: 0 }, { type: 'null' }],
      description: 'Files that were looked at; null when the search ended early.',
      required: true,
    },
    skipped: { type: 'array', items: SKIPPED, required: true },
    unreadable: {
      type: 'array',
      items: { type: 'string' },
      description: 'The first few in path order.',
      required: true,
    },
    stopped: { type: 'string', description: 'Why the search ended before it was done.' },
    truncated: TRUNCATED,
  },
  additionalProperties: false,
} as const satisfies ValueSchemaSpec

export type Completeness = InferValue<typeof COMPLETENESS>
export type Skipped = InferValue<typeof SKIPPED>
export type Truncated = InferValue<typeof TRUNCATED>

/** Rules that leave out what was asked for. */
const HURTING: readonly SkipRule[] = ['binary', 'too-large', 'denied', 'unreadable']

export function isComplete({ skipped, stopped, truncated }: Omit<Completeness, 'complete'>): boolean {
  return stopped === undefined && truncated === undefined && !skipped.some(({ rule }) => HURTING.includes(rule))
}

/** Plural and singular of what a rule leaves out. */
const WORDS: Record<SkipRule, readonly [many: string, one: string]> = {
  hidden: ['hidden', 'hidden'],
  ignored: ['ignored by ignore files', 'ignored by ignore files'],
  'version-control': ['of version control', 'of version control'],
  link: ['links, which are not followed', 'link, which is not followed'],
  binary: ['binary files that match', 'binary file that matches'],
  'too-large': ['too large', 'too large'],
  denied: ["denied by this session's policy", "denied by this session's policy"],
  unreadable: ['unreadable', 'unreadable'],
}

const UNCOUNTED: Record<SkipRule, string> = {
  hidden: 'hidden files',
  ignored: 'what ignore files exclude',
  'version-control': 'files of version control',
  link: 'what links lead to',
  binary: 'lines of binary files',
  'too-large': 'files that are too large',
  denied: "what this session's policy denies",
  unreadable: 'what cannot be read',
}

/** `3 hidden (.env, .git, .hid), what ignore files exclude`; empty when nothing was skipped. */
export function skippedText(skipped: readonly Skipped[]): string {
  return skipped.map(skipText).join(', ')
}

function skipText({ rule, count, atLeast, examples = [] }: Skipped): string {
  if (count === null) return UNCOUNTED[rule]
  const [many, one] = WORDS[rule]
  const more = count > examples.length ? ', …' : ''
  const named = examples.length === 0 ? '' : ` (${examples.map(shownName).join(', ')}${more})`
  return `${atLeast === true ? 'at least ' : ''}${count} ${count === 1 ? one : many}${named}`
}

export interface ReceiptOf {
  /** What was searched. */
  readonly where: string
  /** What the numbers of a page count. */
  readonly page: string
  readonly found: boolean
}

/** What was looked at and what was not, as sentences without a full stop. */
export function receiptLines(completeness: Completeness, { where, page, found }: ReceiptOf): string[] {
  const { searched, skipped, stopped, truncated } = completeness
  const lines: string[] = []
  if (truncated !== undefined) lines.push(truncatedText(truncated, page))
  if (stopped !== undefined) lines.push(`incomplete: ${stopped}`)
  const files =
    searched === null ? '' : `searched ${searched} ${searched === 1 ? 'file' : 'files'} in ${shownName(where)}`
  const hidden = skippedText(skipped.filter(({ rule }) => rule === 'binary'))
  const left = skippedText(skipped.filter(({ rule }) => rule !== 'binary'))
  const not = [hidden === '' ? '' : `not shown: ${hidden}`, left === '' ? '' : `not searched: ${left}`]
  // An empty answer is a claim: only then is it worth the words.
  const asksMore = !found && skipped.some(({ rule }) => rule === 'hidden' || rule === 'ignored')
  const hint = asksMore ? 'include_ignored searches hidden and ignored ones too' : ''
  const line = [files, ...not, hint].filter((part) => part !== '').join('; ')
  if (line !== '') lines.push(line)
  return lines
}

function truncatedText({ shown, total, exact, next, file }: Truncated, page: string): string {
  const more = next === null ? '' : `; next page: offset ${next}`
  const kept =
    file === undefined
      ? ''
      : `; ${file.complete ? 'all of them are' : 'as many as there was room for are'} in ${file.path}`
  return `${shown} of ${exact ? '' : 'at least '}${total} ${page}${more}${kept}`
}

/** A name chosen by a stranger stays on one line. */
export function shownName(name: string): string {
  return /[\p{Cc}\u2028\u2029]/u.test(name) ? JSON.stringify(name) : name
}
