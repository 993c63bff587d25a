// A reload in words for a person: a line for each row, and one for a composition that could not be made.
import { basename, isAbsolute } from 'node:path'
import type { ReloadReport, RowChange } from './types.ts'

/** Nothing for a reload that changed nothing. */
export function reloadLines({ rows, error, ms }: ReloadReport): string[] {
  if (error !== undefined) return [`kept everything as it was: ${error}`]
  return rows.map((row) => lineOf(row, ms))
}

function lineOf({ row, kind, because, error }: RowChange, ms: number): string {
  const reasons = because.map((each) => (isAbsolute(each) ? basename(each) : each)).join(', ')
  if (kind === 'removed') return `removed ${row}`
  if (kind === 'added') return `added ${row} in ${Math.round(ms)} ms`
  if (kind === 'reloaded') return `reloaded ${row} (${reasons}) in ${Math.round(ms)} ms`
  return `${kind === 'kept' ? `kept the old version of ${row}` : `${row} did not start`}: ${error ?? 'no reason given'}`
}
