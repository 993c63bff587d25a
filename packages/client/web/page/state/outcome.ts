// What a call came to, in one word and one colour. The only place that reads failure codes of calls.
import type { TerminalResultView } from '@deepseek-ai/dsh-tools'
import { t } from '../strings.ts'
import { formatDuration } from '../format.ts'
import type { CallItem } from './items.ts'

export type CallState =
  | 'pending'
  | 'running'
  | 'ok'
  /** A result that is bad news, e.g. `exit 1`: not an error. */
  | 'bad'
  | 'failed'
  | 'denied'
  | 'aborted'
  | 'not-started'
  | 'unknown'
  | 'abandoned'

export interface CallReading {
  readonly state: CallState
  /** Short fact for the right edge of the row. */
  readonly receipt: string
  readonly tone: 'ink3' | 'err' | 'warn'
}

const byCode: Record<string, readonly [CallState, string]> = {
  DENIED: ['denied', t.states.denied],
  GUARD_DENIED: ['denied', t.states.deniedByGuard],
  POLICY_FAILED: ['denied', t.states.deniedByPolicy],
  APPROVAL_REJECTED: ['denied', t.states.rejected],
  APPROVAL_UNAVAILABLE: ['denied', t.states.noApproval],
  BLOCKED: ['denied', t.states.blocked],
  FS_SANDBOX_DENIED: ['denied', t.states.deniedBySandbox],
  FS_NOT_OBSERVED: ['failed', t.states.notRead],
  FS_STALE_VERSION: ['failed', t.states.stale],
  FS_EDIT_NOT_FOUND: ['failed', t.states.textNotFound],
  FS_AMBIGUOUS_EDIT: ['failed', t.states.ambiguous],
  FS_NOT_FOUND: ['failed', t.states.notFound],
  ABORTED: ['aborted', t.states.aborted],
  ABORTED_BEFORE_DISPATCH: ['not-started', t.states.notStarted],
  APPROVAL_CANCELLED: ['not-started', t.states.notStarted],
  TOOL_NOT_STARTED: ['not-started', t.states.notStarted],
  TOOL_OUTCOME_UNKNOWN: ['unknown', t.states.unknown],
  TOOL_ABANDONED: ['abandoned', t.states.abandoned],
}

const tones: Record<CallState, CallReading['tone']> = {
  pending: 'ink3',
  running: 'ink3',
  ok: 'ink3',
  bad: 'err',
  failed: 'err',
  denied: 'warn',
  aborted: 'ink3',
  'not-started': 'ink3',
  unknown: 'ink3',
  abandoned: 'warn',
}

const reading = (state: CallState, receipt: string): CallReading => ({ state, receipt, tone: tones[state] })

export function readCall(item: CallItem): CallReading {
  const { outcome, phase } = item
  if (!outcome) {
    if (phase !== 'running') return reading('pending', '')
    const percent = item.fraction === undefined ? '' : `${Math.round(item.fraction * 100)}%`
    return reading('running', [item.label, percent].filter(Boolean).join(' '))
  }
  if (outcome.isError) {
    const code = outcome.error?.code ?? ''
    const known = Object.hasOwn(byCode, code) ? byCode[code] : undefined
    return known ? reading(known[0], known[1]) : reading('failed', code === '' ? t.states.failed : code)
  }
  return (
    readTerminal(item) ??
    readNotes(item) ??
    reading('ok', item.callCount === undefined ? '' : t.programCalls(item.callCount))
  )
}

function readTerminal(item: CallItem): CallReading | undefined {
  const view = item.resultView
  if (view?.card !== 'terminal') return undefined
  const notes = notesOf(view)
  const bad = (view.exitCode !== undefined && view.exitCode !== 0) || view.signal !== undefined
  const facts = terminalFacts(item)
  const receipt = notes[0] ?? facts[0] ?? ''
  // What is worth a word, such as output that was cut, is no bad news by itself.
  return !bad && notes.length > 0 ? { state: 'ok', receipt, tone: 'warn' } : reading(bad ? 'bad' : 'ok', receipt)
}

/** The first note of a view that has any, e.g. of a search that is not complete. */
function readNotes(item: CallItem): CallReading | undefined {
  const view = item.resultView
  if (view === undefined || view.card === 'generic' || view.card === 'terminal') return undefined
  const note = Array.isArray(view.notes) ? view.notes[0] : undefined
  return typeof note === 'string' ? reading('ok', note) : undefined
}

/** Views come from logs of any age, so what should be a list may not be one. */
function notesOf(view: TerminalResultView): readonly string[] {
  return Array.isArray(view.notes) ? (view.notes as readonly string[]) : []
}

/** Facts of a finished command, worst first. */
export function terminalFacts(item: CallItem): string[] {
  const view = item.resultView
  if (view?.card !== 'terminal') return []
  const end =
    view.signal !== undefined ? t.signal(view.signal) : view.exitCode !== undefined ? t.exit(view.exitCode) : ''
  return [...notesOf(view), end].filter((fact) => fact !== '')
}

export function isTrouble(state: CallState): boolean {
  return state === 'bad' || state === 'failed' || state === 'denied' || state === 'unknown' || state === 'abandoned'
}

export function timeOf(item: CallItem): string {
  const { state } = readCall(item)
  const told = item.outcome !== undefined && state !== 'not-started' && state !== 'unknown'
  return told ? formatDuration(item.outcome.durationMs) : ''
}
