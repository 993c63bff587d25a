// A whole file in the form of the one that it replaces: its encoding, byte order mark and line ending.
import type { BigIntStats } from 'node:fs'
import { FsError } from '@deepseek-ai/dsh-fs'
import {
  EOL_TEXT,
  PLAIN,
  bomBytes,
  decode,
  detectEncoding,
  encode,
  eolOf,
  fingerprintOf,
  type Encoding,
} from './encoding.ts'
import { placeholderIn } from './placeholder.ts'
import { MOST_EDITED_BYTES, readWhole, withFile, type Whole } from './present.ts'
import type { Written } from './receipt.ts'
import { infoOf, lstatOf } from './version.ts'

/** What a write replaces. */
export interface Existing {
  readonly stats: BigIntStats
  /** Undefined for a file that is too large to be compared. */
  readonly whole: Whole | undefined
}

/** Undefined when there is nothing. Throws for what is no regular file. */
export async function existingAt(path: string, what: string): Promise<Existing | undefined> {
  const stats = await lstatOf(path)
  if (stats === undefined) return undefined
  if (stats.isFile() && stats.size > MOST_EDITED_BYTES) return { stats, whole: undefined }
  const whole = await withFile(path, what, (opened) => readWhole(opened, MOST_EDITED_BYTES, what), { noLink: true })
  return { stats: whole.stats, whole }
}

export interface Replacement extends Pick<Written, 'old' | 'text' | 'encoding'> {
  readonly bytes: Buffer
}

/** A binary file may be replaced by text; it has nothing to keep. */
export function replacement(existing: Existing | undefined, text: string, what: string): Replacement {
  const old = existing?.whole === undefined ? undefined : textOf(existing.whole, what)
  refusePlaceholder(text, old?.text ?? '', what)
  const encoding = old?.encoding ?? PLAIN
  const content = old === undefined ? text : inEolOf(old.text, text)
  const bytes = Buffer.concat([bomBytes(encoding), encode(content, encoding.name, what)])
  if (old === undefined || existing?.whole === undefined) return { old: null, text: content, encoding, bytes }
  const { mode } = infoOf(existing.stats)
  const fingerprint = fingerprintOf(old.text, existing.whole.bytes.length, encoding, mode)
  return { old: { text: old.text, fingerprint }, text: content, encoding, bytes }
}

function textOf({ bytes }: Whole, what: string): { text: string; encoding: Encoding } | undefined {
  const encoding = bytes.length === 0 ? PLAIN : detectEncoding(bytes)
  return encoding === undefined ? undefined : { text: decode(bytes, encoding, what), encoding }
}

function refusePlaceholder(text: string, oldText: string, what: string): void {
  const placeholder = placeholderIn(text, oldText)
  if (placeholder === undefined) return
  throw new FsError(
    `${what}: the line ${JSON.stringify(placeholder)} stands for code that would be lost; write the whole file, or edit the part that changes`,
    'FS_INVALID_EDIT',
  )
}

/** A file with one kind of line ending keeps it; a text that brings carriage returns of its own means them. */
function inEolOf(oldText: string, text: string): string {
  const eol = eolOf(oldText)
  if (eol === 'none' || eol === 'mixed' || eol === 'lf' || text.includes('\r')) return text
  return text.replaceAll('\n', EOL_TEXT[eol])
}
