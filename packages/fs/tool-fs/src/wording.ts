// Small words that texts and cards share: sizes, counts, how a file is put into bytes.
import type { FsFingerprint } from '@deepseek-ai/dsh-fs'

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`
}

const ENCODINGS: Readonly<Record<FsFingerprint['encoding'], string>> = {
  'utf-8': 'UTF-8',
  'utf-16le': 'UTF-16LE',
  'utf-16be': 'UTF-16BE',
  bytes: 'no Unicode encoding',
}

const ENDINGS: Readonly<Record<FsFingerprint['eol'], string>> = {
  lf: 'LF',
  crlf: 'CRLF',
  cr: 'CR',
  mixed: 'mixed',
  none: 'no',
}

type Form = Pick<FsFingerprint, 'encoding' | 'bom' | 'eol'>

/** How the text is stored, e.g. `UTF-16LE with BOM, CRLF line endings`. */
export function formText({ encoding, bom, eol }: Form): string {
  return `${ENCODINGS[encoding]}${bom ? ' with BOM' : ''}, ${ENDINGS[eol]} line endings`
}

/** Not what everybody takes for granted. */
export function isUnusual({ encoding, bom, eol }: Form): boolean {
  return encoding !== 'utf-8' || bom || (eol !== 'lf' && eol !== 'none')
}

/** What a write changed of the form; empty when it is as before. */
export function formChanges(before: FsFingerprint, after: FsFingerprint): string[] {
  const changes: string[] = []
  if (before.encoding !== after.encoding || before.bom !== after.bom) {
    const told = (side: FsFingerprint): string => ENCODINGS[side.encoding] + (side.bom ? ' with BOM' : '')
    changes.push(`encoding: ${told(before)} → ${told(after)}`)
  }
  if (before.eol !== after.eol && before.eol !== 'none' && after.eol !== 'none') {
    changes.push(`line endings: ${ENDINGS[before.eol]} → ${ENDINGS[after.eol]}`)
  }
  if (before.finalNewline !== after.finalNewline && before.bytes > 0 && after.bytes > 0) {
    changes.push(after.finalNewline ? 'a final newline was added' : 'the final newline is gone')
  }
  if (before.mode !== after.mode) changes.push(`mode: ${before.mode.toString(8)} → ${after.mode.toString(8)}`)
  return changes
}
