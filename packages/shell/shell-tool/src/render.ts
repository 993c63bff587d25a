// What the model reads of a command: the output, then facts as markers, each on a line of its own, the exit last.
import type { Abilities, BackgroundValue, ForegroundValue, ShellValue } from './schema.ts'

/** More survivors than these are counted, not named. */
const NAMED_SURVIVORS = 10
const COMMAND_LENGTH = 120
/** More denials than these are counted. */
const NAMED_DENIALS = 5

export interface Rendered {
  /** Length of the output part at the start of `text`, markers excluded. */
  bodyLength: number
  text: string
}

export function renderShell(value: ShellValue, abilities: Abilities): Rendered {
  if (value.kind === 'background') return renderBackground(value)
  const body = renderBody(value)
  const lines = markers(value, abilities)
  if (lines.length === 0) return { bodyLength: body.length, text: body }
  return { bodyLength: body.length, text: endLine(body) + lines.join('\n') }
}

function renderBackground({ jobId, promoted, workdir }: BackgroundValue): Rendered {
  if (promoted === undefined) return { bodyLength: 0, text: `started background job ${jobId}` }
  const { by, afterMs, output } = promoted
  const why = by === 'person' ? `by the user after ${afterMs} ms` : `at its limit, after ${afterMs} ms`
  const marker = `[moved to the background ${why}: it goes on as job ${jobId} in ${oneLine(workdir)}; read it with job_output]`
  return { bodyLength: output.length, text: endLine(output) + marker }
}

function renderBody({ stdout, stderr }: ForegroundValue): string {
  if (stdout.text === '' && stderr.text === '') return '(no output)'
  if (stderr.text === '') return stdout.text
  return `${endLine(stdout.text)}[stderr]\n${stderr.text}`
}

function endLine(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`
}

function markers(value: ForegroundValue, abilities: Abilities): string[] {
  const { missingWorkdir, timedOut, timeoutMs, signal, exitCode } = value
  const lines: string[] = []
  lines.push(...truncationLines(value))
  if (missingWorkdir !== undefined) {
    lines.push(`[${oneLine(missingWorkdir)} no longer exists; ran in ${oneLine(value.workdir)}]`)
  }
  lines.push(...survivorLines(value.kill))
  lines.push(...sandboxLines(value.sandbox, abilities))
  if (timedOut) lines.push(`[timed out after ${timeoutMs} ms]`)
  if (signal !== null) lines.push(`[killed by signal: ${signal}]`)
  else if (exitCode === null) lines.push('[exit code: unknown]')
  else if (exitCode !== 0) lines.push(`[exit code: ${exitCode}]`)
  return lines
}

function truncationLines({ stdout, stderr }: ForegroundValue): string[] {
  const cut: string[] = []
  for (const [name, stream] of Object.entries({ stdout, stderr })) {
    if (!stream.truncated) continue
    const { totalBytes, spillPath, spillIncomplete } = stream
    const place =
      spillPath === undefined
        ? ''
        : `, ${spillIncomplete === true ? 'as far as there was room' : 'whole'} in ${oneLine(spillPath)}`
    cut.push(`${name} has ${totalBytes} bytes${place}`)
  }
  return cut.length === 0 ? [] : [`[output truncated: ${cut.join('; ')}; head and tail are shown]`]
}

function sandboxLines(sandbox: ForegroundValue['sandbox'], abilities: Abilities): string[] {
  const { denied = [], warnings = [], mode } = sandbox ?? {}
  const lines = denied.slice(0, NAMED_DENIALS).map((denial) => `[sandbox: ${denialText(denial, mode ?? '')}]`)
  if (denied.length > NAMED_DENIALS) lines.push(`[sandbox: ${denied.length - NAMED_DENIALS} more denials]`)
  if (denied.length > 0 && abilities.escalation && mode !== 'danger-full-access') {
    lines.push(
      '[to let it pass, repeat exactly this command with sandbox_permissions and a justification; the user is asked]',
    )
  }
  return [...lines, ...warnings.map((warning) => `[sandbox warning: ${oneLine(warning)}]`)]
}

function survivorLines(kill: ForegroundValue['kill']): string[] {
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

type Denial = NonNullable<NonNullable<ForegroundValue['sandbox']>['denied']>[number]

/** One denial as a sentence: what, where, by which rule. */
export function denialText({ kind, target, rule, confidence }: Denial, mode: string): string {
  const what = kind === 'network' ? 'network access' : kind
  const where = target === '' ? '' : ` ${kind === 'network' ? 'to' : 'of'} ${oneLine(target)}`
  return `${what}${where} ${confidence === 'likely' ? 'was probably denied' : 'denied'} (${rule}) in ${mode} mode`
}

/** A name chosen by a stranger must not look like a marker of ours. */
function oneLine(text: string): string {
  const flat = text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
  const points = Array.from(flat)
  return points.length <= COMMAND_LENGTH ? flat : `${points.slice(0, COMMAND_LENGTH).join('')}…`
}
