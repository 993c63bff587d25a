// What a model and a person see of a read: numbered lines and what was left out; the card, from the logged meta alone.
import { compileValueSchema, validatorFor } from '@deepseek-ai/dsh-tools'
import type { InferValue, PresentedResult, ReadResultView } from '@deepseek-ai/dsh-tools'
import { languageOf } from './languages.ts'
import type { ReadValue } from './schema.ts'
import { counted, formText, isUnusual } from './wording.ts'

export function renderRead(value: ReadValue): string {
  const { lines, fingerprint } = value
  const footer = [`[${extent(value)}]`]
  if (isUnusual(fingerprint)) footer.push(`[${formText(fingerprint)}: kept by edit and write]`)
  if (fingerprint.encoding === 'bytes') {
    footer.push(
      '[bytes above 0x7f are shown as Latin-1; an edit keeps them, and its new text must be ASCII or Latin-1]',
    )
  }
  return [...lines.map(({ number, text }) => `${number}\t${text}`), ...footer].join('\n')
}

function extent({ offset, lines, totalLines, complete, next, fingerprint }: ReadValue): string {
  const all = counted(totalLines, 'line')
  const [first, last] = [lines[0]?.number, lines.at(-1)?.number]
  if (first === undefined || last === undefined) {
    if (fingerprint.bytes === 0) return 'the file is empty'
    return `the file has ${all}; there is nothing from line ${offset} on`
  }
  if (next !== undefined) {
    const size = complete ? `of ${totalLines}` : `of more than ${totalLines}`
    return `lines ${first}-${last} ${size}; go on with offset: ${next}`
  }
  return first === 1 ? `end of file: ${all}` : `lines ${first}-${last}, to the end of file`
}

const READ_META = {
  type: 'object',
  properties: {
    path: { type: 'string', required: true },
    offset: { type: 'integer', minimum: 1, required: true },
    /** The lines, joined: their numbers follow from the first one's. */
    text: { type: 'string', required: true },
    count: { type: 'integer', minimum: 0, required: true },
    totalLines: { type: 'integer', minimum: 0, required: true },
    form: { type: 'string' },
    next: { type: 'integer', minimum: 1 },
  },
  additionalProperties: true,
} as const

type ReadMeta = InferValue<typeof READ_META>

const metaValidator = validatorFor(compileValueSchema(READ_META))

export function readMeta({ path, offset, lines, totalLines, next, fingerprint }: ReadValue): ReadMeta {
  return {
    path,
    offset: lines[0]?.number ?? offset,
    text: lines.map(({ text }) => text).join('\n'),
    count: lines.length,
    totalLines,
    ...(isUnusual(fingerprint) ? { form: formText(fingerprint) } : {}),
    ...(next === undefined ? {} : { next }),
  }
}

/** A total function over any old log. */
export function presentRead({ isError, meta }: PresentedResult): ReadResultView | undefined {
  if (isError || !metaValidator.check(meta)) return undefined
  const { path, offset, text, count, totalLines, form } = meta as unknown as ReadMeta
  const lines = count === 0 ? [] : text.split('\n')
  const lang = languageOf(path)
  return {
    card: 'read',
    path,
    offset,
    lines: lines.map((line, index) => ({ number: offset + index, text: line })),
    totalLines: Math.max(totalLines, lines.length),
    ...(lang === undefined ? {} : { lang }),
    ...(form === undefined ? {} : { remarks: [form] }),
  }
}
