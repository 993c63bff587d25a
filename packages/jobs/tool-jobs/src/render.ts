// What the model reads of jobs, and the card of their output. The last line of a job is always its status.
import { jobStatus, survivorLines } from '@deepseek-ai/dsh-jobs'
import {
  contentText,
  type Json,
  type JsonObject,
  type PresentedResult,
  type TerminalResultView,
} from '@deepseek-ai/dsh-tools'
import type { KillValue, ListValue, OutputValue } from './schema.ts'

export function renderOutput(value: OutputValue): { readonly text: string; readonly bodyLength: number } {
  const { text, lossy, files } = value.output
  const body = text === '' ? '(no new output)' : text
  const lines: string[] = []
  if (lossy) {
    const where = files.length === 0 ? '' : `; full output: ${files.join(', ')}`
    lines.push(`[some output was dropped from memory${where}]`)
  }
  lines.push(...survivorLines(value.survivors), statusLine(value))
  return { text: `${body}${body.endsWith('\n') ? '' : '\n'}${lines.join('\n')}`, bodyLength: body.length }
}

export function renderList({ jobs }: ListValue): string {
  if (jobs.length === 0) return 'No background jobs.'
  return jobs.map((job) => `${job.id} [${job.kind}] ${jobStatus(job)} — ${job.label}`).join('\n')
}

export function renderKill(value: KillValue): string {
  const { id, stopped } = value
  const what = stopped ? `${id} was told to stop. Its end can be read with job_output.` : `${id} had ended before.`
  return [what, ...survivorLines(value.survivors), statusLine(value)].join('\n')
}

function statusLine(row: { readonly status: string; readonly detail?: string }): string {
  return `[status: ${jobStatus(row)}]`
}

/** The output is in the log once, in the content; the lengths say which part of which content it is. */
export function outputMeta(value: OutputValue): JsonObject {
  const { text, bodyLength } = renderOutput(value)
  const { label, survivors = [], output } = value
  return {
    label,
    status: jobStatus(value),
    lossy: output.lossy,
    survivors: survivors.length,
    bodyLength,
    contentLength: text.length,
  }
}

export function presentOutput({ content, isError, meta }: PresentedResult): TerminalResultView | undefined {
  if (isError || !isObject(meta)) return undefined
  const text = contentText(content)
  const ours = meta.contentLength === text.length && typeof meta.bodyLength === 'number'
  const notes = notesOf(meta)
  return {
    card: 'terminal',
    ...(typeof meta.label === 'string' ? { title: meta.label } : {}),
    output: ours ? text.slice(0, meta.bodyLength as number) : text,
    ...(notes.length === 0 ? {} : { notes }),
  }
}

function notesOf({ survivors, lossy, status }: JsonObject): string[] {
  const notes: string[] = []
  if (typeof survivors === 'number' && survivors > 0) {
    notes.push(survivors === 1 ? '1 survivor' : `${survivors} survivors`)
  }
  if (lossy === true) notes.push('output dropped')
  if (typeof status === 'string') notes.push(status)
  return notes
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
