// What the model reads of a finished command: the output, then facts as markers, each on a line of its own, the exit last.
import type { BashValue } from './schema.ts'

/** More survivors than these are counted, not named. */
const NAMED_SURVIVORS = 10
const COMMAND_LENGTH = 120

export interface Rendered {
  /** Length of the output part at the start of `text`, markers excluded. */
  bodyLength: number
  text: string
}

export function renderBash(value: BashValue): Rendered {
  const body = renderBody(value)
  const lines = markers(value)
  if (lines.length === 0) return { bodyLength: body.length, text: body }
  return { bodyLength: body.length, text: endLine(body) + lines.join('\n') }
}

function renderBody({ stdout, stderr }: BashValue): string {
  if (stdout.text === '' && stderr.text === '') return '(no output)'
  if (stderr.text === '') return stdout.text
  return `${endLine(stdout.text)}[stderr]\n${stderr.text}`
}

function endLine(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`
}

function markers(value: BashValue): string[] {
  const { missingWorkdir, timedOut, timeoutMs, signal, exitCode } = value
  const lines: string[] = []
  const cut = truncatedStreams(value)
  if (cut !== '') lines.push(`[output truncated: ${cut}; head and tail are shown]`)
  if (missingWorkdir !== undefined) {
    lines.push(`[${oneLine(missingWorkdir)} no longer exists; ran in ${oneLine(value.workdir)}]`)
  }
  lines.push(...survivorLines(value.kill))
  if (timedOut) lines.push(`[timed out after ${timeoutMs} ms]`)
  if (signal !== null) lines.push(`[killed by signal: ${signal}]`)
  else if (exitCode === null) lines.push('[exit code: unknown]')
  else if (exitCode !== 0) lines.push(`[exit code: ${exitCode}]`)
  return lines
}

function truncatedStreams({ stdout, stderr }: BashValue): string {
  const cut: string[] = []
  if (stdout.truncated) cut.push(`stdout has ${stdout.totalBytes} bytes`)
  if (stderr.truncated) cut.push(`stderr has ${stderr.totalBytes} bytes`)
  return cut.join(', ')
}

function survivorLines(kill: BashValue['kill']): string[] {
  if (kill === undefined) return []
  if (kill.signal === null && kill.survivors.length === 0) {
    return ['[still running: a process that holds the output open and could not be identified]']
  }
  const lines = kill.survivors
    .slice(0, NAMED_SURVIVORS)
    .map(({ pid, command }) => `[still running: ${pid} ${oneLine(command)}]`)
  const more = kill.survivors.length - lines.length
  if (more > 0) lines.push(`[still running: ${more} more]`)
  return lines
}

/** A name chosen by a stranger must not look like a marker of ours. */
function oneLine(text: string): string {
  const flat = text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
  const points = Array.from(flat)
  return points.length <= COMMAND_LENGTH ? flat : `${points.slice(0, COMMAND_LENGTH).join('')}…`
}
