// How jobs are told in words: status lines and completion notices, each on one line, whatever a label holds.
import type { JobEnd, JobRow } from './types.ts'

const LABEL_POINTS = 120
const DETAIL_POINTS = 300
const NAMED_SURVIVORS = 5

/** Control characters become spaces and the rest is cut between code points: a label must not look like a line of ours. */
export function oneLine(text: string, maxPoints = LABEL_POINTS): string {
  const flat = text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim()
  if (flat.length <= maxPoints) return flat
  const points = Array.from(flat)
  return points.length <= maxPoints ? flat : `${points.slice(0, maxPoints - 1).join('')}…`
}

/** `completed, exit code: 0` */
export function jobStatus({
  status,
  detail,
}: {
  readonly status: string
  readonly detail?: string | undefined
}): string {
  const told = detail === undefined ? '' : oneLine(detail, DETAIL_POINTS)
  return told === '' ? status : `${status}, ${told}`
}

/** Lines that name who still runs, the first few by name. */
export function survivorLines(survivors: JobEnd['survivors'] = []): string[] {
  const lines = survivors.slice(0, NAMED_SURVIVORS).map(({ pid, command }) => `${pid} ${oneLine(command)}`)
  if (survivors.length > lines.length) lines.push(`${survivors.length - lines.length} more`)
  return lines.map((line) => `[still running: ${line}]`)
}

/** What the owner is told when a job has ended. */
export function endNotice(row: JobRow, readable: boolean): string {
  const { id, kind, label } = row
  const left = survivorLines(row.survivors)
  const rest = [...left, ...(readable ? ['Read its output with job_output.'] : [])]
  const tail = rest.length === 0 ? '' : ` ${rest.join(' ')}`
  return `background job ${id} (${kind}: ${oneLine(label)}) finished [status: ${jobStatus(row)}].${tail}`
}

/** A job of an earlier run of the session whose end the model has not been told. */
export interface FormerJob {
  readonly id: string
  readonly kind: string
  readonly label: string
  readonly status: JobEnd['status'] | 'lost'
  readonly detail?: string | undefined
}

export function formerNotice(job: FormerJob): string {
  const { id, kind, label, status } = job
  const what =
    status === 'lost'
      ? 'was lost: the host ended while it ran, and how it ended is not known'
      : 'ended before this session was opened again'
  return `background job ${id} (${kind}: ${oneLine(label)}) ${what} [status: ${jobStatus(job)}]. Its output can no longer be read.`
}
