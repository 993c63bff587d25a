// What a model reads of terminals: the text, then facts as markers on lines of their own.
import type { ClosedValue, RowValue, SentValue, StatusValue } from './schema.ts'

export function renderSent({ text, truncated, reason, status, prompt, untyped, answeredByUser }: SentValue): string {
  const lines: string[] = []
  if (truncated) lines.push('[output truncated: read the rest with terminal_read]')
  if (answeredByUser !== undefined) {
    lines.push(`[the user answered ${answeredByUser === 1 ? 'a prompt' : `${answeredByUser} prompts`} of the program]`)
  }
  if (prompt !== undefined) {
    lines.push(
      `[the program waits for ${prompt.hidden ? 'an answer that it does not show' : 'an answer'}: ${oneLine(prompt.text)}]`,
    )
  }
  if (untyped !== undefined) {
    const count = untyped.trimEnd().split('\n').length
    lines.push(
      `[not typed: ${count === 1 ? 'the last line' : `the last ${count} lines`}, since the program did not take the one before]`,
    )
  }
  lines.push(`[wait: ${reason}]`, statusLine(status))
  return `${text === '' || text.endsWith('\n') ? text : `${text}\n`}${lines.join('\n')}`
}

export function statusLine(status: StatusValue): string {
  if (status.kind === 'running') return '[terminal: running]'
  const how = status.signal === null ? `code ${status.exitCode ?? 'unknown'}` : `signal ${status.signal}`
  return `[terminal: exited, ${how}]`
}

export function renderRow({ id, name, type, cwd, pid, status }: RowValue): string {
  return `${id}${name === undefined ? '' : ` "${name}"`} [${type}] pid ${pid} in ${cwd} ${statusLine(status)}`
}

export function renderClosed({ terminal, kill: { signal, ended, survivors } }: ClosedValue): string {
  const done =
    signal === null ? 'nothing was left to end' : `${ended} ${ended === 1 ? 'process' : 'processes'} ended by ${signal}`
  const left = survivors.map(({ pid, command }) => `\n[still running: ${pid} ${oneLine(command)}]`).join('')
  return `closed ${terminal}\n[kill: ${done}]${left}`
}

/** Text of a program must not look like a marker of ours. */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim()
}
