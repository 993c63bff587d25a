// Turns items into the rows of the list: older turns fold to their prompt, one summary row and their last words.
import { formatDuration } from '../format.ts'
import { t } from '../strings.ts'
import type { CallItem, Item, SessionState, TextItem } from './items.ts'
import { readCall } from './outcome.ts'

export interface SummaryRow {
  readonly kind: 'summary'
  readonly key: string
  readonly turn: number
  readonly text: string
  readonly failed: number
  readonly open: boolean
}
export type Row = Item | SummaryRow

export function toRows(state: SessionState, openTurns: ReadonlySet<number>): Row[] {
  const rows: Row[] = []
  const items: readonly Item[] = state.live.length > 0 ? [...state.items, ...state.live] : state.items
  for (let at = 0; at < items.length;) {
    const { turn } = items[at] as Item
    let end = at
    while (end < items.length && items[end]?.turn === turn) end++
    const group = items.slice(at, end)
    if (turn < state.turn) rows.push(...foldTurn(group, openTurns.has(turn)))
    else rows.push(...group)
    at = end
  }
  return rows
}

function foldTurn(group: readonly Item[], open: boolean): Row[] {
  const calls = group.filter((item): item is CallItem => item.kind === 'call')
  if (calls.length === 0) return [...group]
  const summary = summarise(calls, open)
  const words = group.filter((item): item is TextItem => item.kind === 'prose').at(-1)
  const first = group.findIndex((item) => item.kind !== 'prompt')
  const head = group.slice(0, first)
  const rest = group.slice(first)
  if (open) return [...head, summary, ...rest]
  const kept = rest.filter(
    (item) =>
      item === words || item.kind === 'prompt' || item.kind === 'end' || item.kind === 'notice' || item.kind === 'fact',
  )
  return [...head, summary, ...kept]
}

function summarise(calls: readonly CallItem[], open: boolean): SummaryRow {
  const failed = calls.filter((item) => ['failed', 'bad'].includes(readCall(item).state)).length
  const total = calls.reduce((sum, item) => sum + (item.outcome?.durationMs ?? 0), 0)
  const { turn } = calls[0] as CallItem
  return {
    kind: 'summary',
    key: `s${turn}`,
    turn,
    text: t.summary(calls.length, failed, total === 0 ? '' : formatDuration(total)),
    failed,
    open,
  }
}
