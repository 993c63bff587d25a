// The diff card of a change, from the log alone. A total function over any old log.
import { compileValueSchema, validatorFor } from '@deepseek-ai/dsh-tools'
import type { DiffResultView, PresentedResult } from '@deepseek-ai/dsh-tools'
import { receiptSentences } from './render.ts'
import { CHANGE_VALUE, type ChangeValue } from './schema.ts'

const validator = validatorFor(compileValueSchema(CHANGE_VALUE))

export function presentChange({ isError, meta }: PresentedResult): DiffResultView | undefined {
  if (isError || !validator.check(meta)) return undefined
  const value = meta as unknown as ChangeValue
  const { path, operation, hunks, hunksCut, receipt } = value
  const notes = [
    ...(operation === 'edited' ? [] : [operation]),
    ...(receipt.strategy === 'line-endings' || receipt.strategy === 'whitespace' ? ['lenient match'] : []),
  ]
  return {
    card: 'diff',
    diffs: hunks.map(({ oldStart, newStart, oldText, newText }) => ({
      path,
      oldText: operation === 'created' ? null : oldText,
      newText,
      oldStart,
      newStart,
    })),
    ...(notes.length === 0 ? {} : { notes }),
    remarks: [...receiptSentences(value), ...(hunksCut ? ['More has changed than is shown here.'] : [])],
  }
}
