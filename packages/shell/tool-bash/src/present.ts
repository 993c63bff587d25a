// The terminal card: from the arguments while the command runs, from the log afterwards. Total functions over any old log.
import {
  contentText,
  type Json,
  type JsonObject,
  type PresentedResult,
  type TerminalCallView,
  type TerminalResultView,
} from '@deepseek-ai/dsh-tools'
import { renderBash } from './render.ts'
import type { BashArgs, BashValue } from './schema.ts'

/**
 * Exit facts as data. The output itself is in the log once, in the content; `bodyLength` says how much of it is output and
 * `contentLength` of which content that is true, since a policy may have replaced it.
 */
export function bashMeta(value: BashValue): JsonObject {
  const { text, bodyLength } = renderBash(value)
  return {
    exitCode: value.exitCode,
    signal: value.signal,
    timedOut: value.timedOut,
    durationMs: value.durationMs,
    workdir: value.workdir,
    truncated: value.stdout.truncated || value.stderr.truncated,
    survivors: value.kill?.survivors.length ?? 0,
    bodyLength,
    contentLength: text.length,
  }
}

export function presentBashCall({ command, description, workdir }: BashArgs): TerminalCallView {
  return { card: 'terminal', title: command, description, ...(workdir === undefined ? {} : { cwd: workdir }) }
}

export function presentBashResult({ content, isError, meta }: PresentedResult): TerminalResultView | undefined {
  if (isError || !isObject(meta)) return undefined
  const text = contentText(content)
  const ours = meta.contentLength === text.length && typeof meta.bodyLength === 'number'
  const notes = notesOf(meta)
  return {
    card: 'terminal',
    output: ours ? text.slice(0, meta.bodyLength as number) : text,
    ...(typeof meta.exitCode === 'number' ? { exitCode: meta.exitCode } : {}),
    ...(typeof meta.signal === 'string' ? { signal: meta.signal } : {}),
    ...(notes.length === 0 ? {} : { notes }),
  }
}

function notesOf({ timedOut, survivors, truncated }: JsonObject): string[] {
  const notes: string[] = []
  if (timedOut === true) notes.push('timed out')
  if (typeof survivors === 'number' && survivors > 0)
    notes.push(survivors === 1 ? '1 survivor' : `${survivors} survivors`)
  if (truncated === true) notes.push('truncated')
  return notes
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
