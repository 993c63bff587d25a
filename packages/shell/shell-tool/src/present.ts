// The terminal card of a command: from the arguments while the command runs, from the log afterwards. Total functions over any old log.
import {
  contentText,
  type Json,
  type JsonObject,
  type PresentedResult,
  type TerminalCallView,
  type TerminalResultView,
} from '@deepseek-ai/dsh-tools'
import { denialText, renderShell } from './render.ts'
import type { Abilities, ShellArgs, ShellValue } from './schema.ts'

/**
 * Exit facts as data. The output itself is in the log once, in the content; `bodyLength` says how much of it is output and
 * `contentLength` of which content that is true, since a policy may have replaced it.
 */
export function shellMeta(value: ShellValue, abilities: Abilities): JsonObject {
  const { text, bodyLength } = renderShell(value, abilities)
  const lengths = { bodyLength, contentLength: text.length }
  if (value.kind === 'background') {
    const { jobId, workdir, promoted } = value
    return { jobId, workdir, ...(promoted === undefined ? {} : { promotedBy: promoted.by }), ...lengths }
  }
  const { stdout, stderr, sandbox, kill } = value
  const files = [stdout.spillPath, stderr.spillPath].filter((path) => path !== undefined)
  const denied = sandbox?.denied ?? []
  return {
    exitCode: value.exitCode,
    signal: value.signal,
    timedOut: value.timedOut,
    durationMs: value.durationMs,
    workdir: value.workdir,
    truncated: stdout.truncated || stderr.truncated,
    survivors: kill?.survivors.length ?? 0,
    ...(files.length === 0 ? {} : { files }),
    ...(denied.length === 0 ? {} : { denied: denied.map((denial) => denialText(denial, sandbox?.mode ?? '')) }),
    ...(sandbox?.warnings === undefined ? {} : { warnings: sandbox.warnings }),
    ...lengths,
  }
}

export function presentShellCall({ command, description, workdir }: ShellArgs): TerminalCallView {
  return { card: 'terminal', title: command, description, ...(workdir === undefined ? {} : { cwd: workdir }) }
}

export function presentShellResult({ content, isError, meta }: PresentedResult): TerminalResultView | undefined {
  if (isError || !isObject(meta)) return undefined
  const text = contentText(content)
  const ours = meta.contentLength === text.length && typeof meta.bodyLength === 'number'
  const notes = notesOf(meta)
  const remarks = remarksOf(meta)
  return {
    card: 'terminal',
    output: ours ? text.slice(0, meta.bodyLength as number) : text,
    ...(typeof meta.exitCode === 'number' ? { exitCode: meta.exitCode } : {}),
    ...(typeof meta.signal === 'string' ? { signal: meta.signal } : {}),
    ...(notes.length === 0 ? {} : { notes }),
    ...(remarks.length === 0 ? {} : { remarks }),
  }
}

/** What is worth a word on the card's own line. How every command is confined is none. */
function notesOf({ jobId, timedOut, survivors, truncated, denied }: JsonObject): string[] {
  const notes: string[] = []
  if (typeof jobId === 'string') notes.push(`in background: ${jobId}`)
  if (Array.isArray(denied) && denied.length > 0) notes.push('denied by sandbox')
  if (timedOut === true) notes.push('timed out')
  if (typeof survivors === 'number' && survivors > 0)
    notes.push(survivors === 1 ? '1 survivor' : `${survivors} survivors`)
  if (truncated === true) notes.push('truncated')
  return notes
}

function remarksOf({ denied, warnings, files, promotedBy }: JsonObject): string[] {
  return [
    ...texts(denied).map((denial) => `Sandbox: ${denial}.`),
    ...texts(warnings),
    ...texts(files).map((file) => `Whole output: ${file}`),
    ...(promotedBy === 'timeout' ? ['It went on in the background at its limit.'] : []),
    ...(promotedBy === 'person' ? ['You sent it to the background.'] : []),
  ]
}

function texts(value: Json | undefined): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
