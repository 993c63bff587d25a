// What a check of a tool says, and the same for people. Knows no check's work.

/** Every check by its stable id, in the order of the report. */
export const CHECK_TITLES = {
  'schema-name': 'has a name that every provider takes',
  'schema-description': 'describes itself and each parameter to a model',
  'schema-parameters': 'declares parameters that compile and can be told to a model',
  'schema-examples': 'gives defaults and examples that match their own schema',
  'schema-output': 'declares an output schema that compiles',
  registration: 'registers',
  'args-valid': 'takes every argument that its schema allows',
  'args-near-valid': 'refuses arguments that break its schema in one place',
  'args-hostile': 'survives hostile arguments',
  'output-lossless': 'returns lossless JSON that matches its output schema',
  'render-is-pure': 'renders the same value to the same blocks, from the value alone',
  'render-size': 'renders within its size',
  'meta-is-pure': 'derives the same meta from the same value, from the value alone',
  'meta-size': 'keeps meta within its size',
  'presenters-pure': 'presents the same input as the same view',
  'presenters-ambient': 'presents without clock, random numbers or I/O',
  'presenters-total': 'presents older and damaged logs without a throw',
  'presenters-view': 'presents views that fit their card',
  'cancel-before': 'does nothing when cancelled before it starts',
  'cancel-during': 'settles soon after a cancellation, and leaves nothing behind',
  'cancel-after': 'ignores a cancellation after its end',
  concurrency: 'gives the same values in parallel, where it says it may run so',
  'isolation-args': 'leaves its arguments as they were',
  'isolation-process': 'leaves the process as it was',
  timeout: 'settles soon after its deadline',
} as const

export type CheckId = keyof typeof CHECK_TITLES

export const CHECK_IDS = Object.keys(CHECK_TITLES) as CheckId[]

export interface CheckReport {
  readonly id: CheckId
  /** A verb sentence about the tool. */
  readonly title: string
  readonly status: 'passed' | 'failed' | 'skipped'
  /** What is wrong, or why it was not looked at. Absent when passed. */
  readonly reason?: string
  /** The input that showed it, as short JSON. */
  readonly example?: string
}

export interface ToolReport {
  readonly tool: string
  /** False when any check failed. Skipped checks count as neither. */
  readonly ok: boolean
  readonly checks: readonly CheckReport[]
  /** Gives the same arguments again. */
  readonly seed: number
  readonly runs: number
  readonly durationMs: number
}

const MARKS = { passed: '✓', failed: '✗', skipped: '–' } as const

/** The report for people: one line a check, reasons below. Ends without a line end. */
export function formatReport(report: ToolReport): string {
  const count = (status: CheckReport['status']): number => report.checks.filter((c) => c.status === status).length
  const seconds = (report.durationMs / 1000).toFixed(1)
  const facts = `${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped`
  const width = Math.max(...report.checks.map(({ id }) => id.length))
  const lines = [`${report.tool}: ${facts} (seed ${report.seed}, ${seconds} s)`]
  for (const { id, title, status, reason, example } of report.checks) {
    lines.push(`  ${MARKS[status]} ${id.padEnd(width)}  ${title}`)
    const indent = ' '.repeat(width + 6)
    if (reason !== undefined) lines.push(...reason.split('\n').map((line) => indent + line))
    if (example !== undefined) lines.push(`${indent}with ${example}`)
  }
  return lines.join('\n')
}
