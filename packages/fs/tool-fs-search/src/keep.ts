// How much of a result a model reads, and where the rest is kept. One budget: a page that fits is not cut again.
import { Buffer } from 'node:buffer'
import type { ToolExecution } from '@deepseek-ai/dsh-tools'
import type { SearchServices } from './services.ts'

/** Where no host says. */
const DEFAULT_BYTES = 49_152
/** A program reads the value, not the text. */
const PROGRAM_BYTES = 4 * 1024 * 1024
/** Room for the receipt and for escaping. */
const MARKER_BYTES = 6144
const MIN_BYTES = 1024
const PIECE_BYTES = 65_536

export function pageBudget({ spill }: SearchServices, { parent }: ToolExecution): number {
  if (parent !== undefined) return PROGRAM_BYTES
  return Math.max(MIN_BYTES, (spill?.inlineBytes ?? DEFAULT_BYTES) - MARKER_BYTES)
}

/** Writes lines to a file of the session. Undefined where a host keeps none, for programs, and when the disk refuses: paging is there all the same. */
export function keepLines(
  { spill }: SearchServices,
  { agent, callId, name, parent }: ToolExecution,
  label: string,
  lines: () => Iterable<string>,
): { path: string; complete: boolean } | undefined {
  if (spill === undefined || parent !== undefined) return undefined
  try {
    const file = spill.open({ sessionId: agent?.id, callId, toolName: name, label })
    let piece = ''
    for (const line of lines()) {
      piece += `${line}\n`
      if (piece.length < PIECE_BYTES) continue
      file.write(Buffer.from(piece))
      piece = ''
    }
    file.write(Buffer.from(piece))
    const { path, complete } = file.finish()
    return { path, complete }
  } catch {
    return undefined // SPILL_UNAVAILABLE
  }
}
