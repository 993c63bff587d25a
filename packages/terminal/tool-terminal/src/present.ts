// The cards of the terminal tools: from the arguments while they run, from the log afterwards. Total functions over any old log.
import { contentText, type Json, type PresentedResult, type TerminalResultView } from '@deepseek-ai/dsh-tools'
import type { SentValue } from './schema.ts'

/** Exit facts as data; the text itself is in the log once, in the content. */
export function sentMeta({ reason, status, prompt, truncated }: SentValue): Json {
  return {
    reason,
    truncated,
    ...(status.kind === 'exited' ? { exitCode: status.exitCode, signal: status.signal } : {}),
    ...(prompt === undefined ? {} : { waits: true }),
  }
}

export function presentSent({ content, isError, meta }: PresentedResult): TerminalResultView | undefined {
  if (isError || typeof meta !== 'object' || meta === null || !('reason' in meta)) return undefined
  const { reason, exitCode, signal, waits, truncated } = meta
  const notes = [
    ...(waits === true ? ['waits for input'] : []),
    ...(typeof reason === 'string' && reason !== 'stdin-wait' ? [reason] : []),
    ...(truncated === true ? ['truncated'] : []),
  ]
  return {
    card: 'terminal',
    output: contentText(content).replace(/(?:^|\n)\[wait: [^\n]*\]\n\[terminal: [^\n]*\]$/, ''),
    ...(typeof exitCode === 'number' ? { exitCode } : {}),
    ...(typeof signal === 'string' ? { signal } : {}),
    ...(notes.length === 0 ? {} : { notes }),
  }
}
