// What the file tools take and return: the canonical values, facts only. Receipts and hunks are those of the file service.
import type { FsFingerprint, FsReceipt, FsTarget, FsWriteResult } from '@deepseek-ai/dsh-fs'
import { IMAGE_TYPES, type InferValue, type ValueSchemaSpec } from '@deepseek-ai/dsh-tools'

/** Not blank. */
const PATH_PATTERN = '\\S'

export const FILE_PATH = {
  type: 'string',
  required: true,
  minLength: 1,
  pattern: PATH_PATTERN,
  description: "Path of the file: absolute, or relative to the session's folder.",
} as const

export const FOLDER_PATH = {
  type: 'string',
  minLength: 1,
  pattern: PATH_PATTERN,
  description: "Path of the folder: absolute, or relative to the session's folder, which is the default.",
} as const

export const OLD_TEXT = {
  type: 'string',
  required: true,
  description:
    'The text to replace, as it is in the file, without line numbers: one piece, with enough lines around it to occur once.',
} as const

export const NEW_TEXT = {
  type: 'string',
  required: true,
  description: 'The text to put in its place, complete. Empty to remove it.',
} as const

export const REPLACE_ALL = {
  type: 'boolean',
  description: 'Replace every occurrence. Default false: old_text must occur exactly once.',
} as const

const count = { type: 'integer', required: true, minimum: 0 } as const
const lineNumber = { type: 'integer', required: true, minimum: 1 } as const
const text = { type: 'string', required: true } as const
const flag = { type: 'boolean', required: true } as const

export const FINGERPRINT = {
  type: 'object',
  properties: {
    bytes: count,
    encoding: { type: 'string', enum: ['utf-8', 'utf-16le', 'utf-16be', 'bytes'], required: true },
    bom: flag,
    eol: { type: 'string', enum: ['lf', 'crlf', 'cr', 'mixed', 'none'], required: true },
    finalNewline: flag,
    mode: { ...count, description: 'Permission bits.' },
  },
  additionalProperties: false,
} as const satisfies ValueSchemaSpec

export const READ_VALUE = {
  type: 'object',
  properties: {
    path: { ...text, description: 'Absolute.' },
    offset: lineNumber,
    lines: {
      type: 'array',
      required: true,
      items: { type: 'object', properties: { number: lineNumber, text }, additionalProperties: false },
    },
    totalLines: count,
    complete: { ...flag, description: 'False: the file goes on after totalLines, which is what was counted.' },
    next: { type: 'integer', minimum: 1, description: 'Present when there is more: the offset to go on with.' },
    fingerprint: { ...FINGERPRINT, required: true },
  },
  additionalProperties: false,
} as const satisfies ValueSchemaSpec

export const LIST_VALUE = {
  type: 'object',
  properties: {
    path: { ...text, description: 'Absolute.' },
    offset: lineNumber,
    entries: {
      type: 'array',
      required: true,
      items: {
        type: 'object',
        properties: {
          name: text,
          type: { type: 'string', enum: ['file', 'directory', 'symlink', 'other'], required: true },
          size: { type: 'integer', minimum: 0, description: 'Bytes, of files.' },
          link: {
            type: 'object',
            properties: { to: text, dangling: flag },
            additionalProperties: false,
          },
        },
        additionalProperties: false,
      },
    },
    total: count,
    next: { type: 'integer', minimum: 1, description: 'Present when there is more: the offset to go on with.' },
  },
  additionalProperties: false,
} as const satisfies ValueSchemaSpec

const RECEIPT = {
  type: 'object',
  required: true,
  properties: {
    strategy: {
      type: 'string',
      enum: ['exact', 'line-endings', 'whitespace', 'whole'],
      required: true,
      description: 'How old_text was found, the least exact way that was needed; whole: the file was written whole.',
    },
    ranges: {
      type: 'array',
      required: true,
      description: 'Bytes of the new file that are new, end exclusive.',
      items: { type: 'object', properties: { start: count, end: count }, additionalProperties: false },
    },
    outsideUnchanged: {
      type: 'boolean',
      const: true,
      required: true,
      description: 'Every byte outside the ranges is what it was: checked before the file took its place.',
    },
    lines: {
      type: 'object',
      required: true,
      properties: { added: count, removed: count },
      additionalProperties: false,
    },
    before: { oneOf: [FINGERPRINT, { type: 'null' }], required: true, description: 'Null for a new file.' },
    after: { ...FINGERPRINT, required: true },
  },
  additionalProperties: false,
} as const satisfies ValueSchemaSpec & { required: true }

export const CHANGE_VALUE = {
  type: 'object',
  properties: {
    path: { ...text, description: 'Absolute.' },
    operation: { type: 'string', enum: ['created', 'replaced', 'edited'], required: true },
    receipt: RECEIPT,
    hunks: {
      type: 'array',
      required: true,
      description: 'The changed lines with three around each.',
      items: {
        type: 'object',
        properties: { oldStart: lineNumber, newStart: lineNumber, oldText: text, newText: text },
        additionalProperties: false,
      },
    },
    hunksCut: { ...flag, description: 'More has changed than the hunks show.' },
  },
  additionalProperties: false,
} as const satisfies ValueSchemaSpec

export const IMAGE_VALUE = {
  type: 'object',
  properties: {
    path: { ...text, description: 'Absolute.' },
    mediaType: { type: 'string', enum: [...IMAGE_TYPES], required: true },
    width: { ...count, description: 'Pixels.' },
    height: { ...count, description: 'Pixels.' },
    bytes: count,
    data: { ...text, description: 'The file in base64.' },
  },
  additionalProperties: false,
} as const satisfies ValueSchemaSpec

export type ImageValue = InferValue<typeof IMAGE_VALUE>
export type ReadValue = InferValue<typeof READ_VALUE>
export type ListValue = InferValue<typeof LIST_VALUE>
export type ChangeValue = InferValue<typeof CHANGE_VALUE>

/** Of a new file, in UTF-16 units: what its card shows. */
const MOST_SHOWN = 256 * 1024

export function changeValue(target: FsTarget, result: FsWriteResult, written: string | undefined): ChangeValue {
  const { operation, receipt } = result
  const created = operation === 'created' && written !== undefined ? beginning(written) : undefined
  return {
    path: target.path,
    operation,
    receipt: receiptValue(receipt),
    hunks:
      created === undefined
        ? result.hunks.map(({ oldStart, newStart, oldText, newText }) => ({ oldStart, newStart, oldText, newText }))
        : [{ oldStart: 1, newStart: 1, oldText: '', newText: created.text }],
    hunksCut: created?.cut ?? result.hunksCut,
  }
}

/** Whole lines, as many as a card may hold. */
function beginning(text: string): { readonly text: string; readonly cut: boolean } {
  if (text.length <= MOST_SHOWN) return { text, cut: false }
  const line = text.lastIndexOf('\n', MOST_SHOWN)
  return { text: text.slice(0, line + 1), cut: true }
}

/** A copy that may be frozen, without the read-only types that values are not declared with. */
function receiptValue({ strategy, ranges, lines, before, after }: FsReceipt): ChangeValue['receipt'] {
  return {
    strategy,
    ranges: ranges.map(({ start, end }) => ({ start, end })),
    outsideUnchanged: true,
    lines: { added: lines.added, removed: lines.removed },
    before: before === null ? null : fingerprintValue(before),
    after: fingerprintValue(after),
  }
}

export function fingerprintValue({ bytes, encoding, bom, eol, finalNewline, mode }: FsFingerprint): FsFingerprint {
  return { bytes, encoding, bom, eol, finalNewline, mode }
}
