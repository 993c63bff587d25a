// What a model reads of a change: the receipt in a line or two, then the changed lines with their numbers. Never the whole file.
import { linesOf } from './changed-part.ts'
import type { ChangeValue } from './schema.ts'
import { counted, formChanges, formText, isUnusual } from './wording.ts'

const MOST_LINES = 60
const MOST_LENGTH = 400
const MOST_RANGES = 5

export function renderChange(value: ChangeValue): string {
  const [first = '', ...more] = receiptSentences(value)
  const { operation, path } = value
  const verb = { created: 'Created', replaced: 'Replaced', edited: 'Edited' }[operation]
  const receipt = [`${verb} ${JSON.stringify(path)}: ${first}`, ...more.map((sentence) => `[${sentence}]`)]
  // What was written whole is known to who wrote it.
  return [...receipt, ...(operation === 'edited' ? changedLines(value) : [])].join('\n')
}

/** The facts of the receipt as sentences, the change itself first. */
export function receiptSentences({ operation, receipt, hunks }: ChangeValue): string[] {
  const { strategy, lines, before, after } = receipt
  const delta = `+${lines.added} -${lines.removed} ${lines.added + lines.removed === 1 ? 'line' : 'lines'}`
  if (operation === 'created') {
    return [`${counted(lines.added, 'line')}, ${counted(after.bytes, 'byte')}.`]
  }
  const sentences: string[] = []
  if (operation === 'replaced') {
    const same = lines.added + lines.removed === 0 && hunks.length === 0 && before?.bytes === after.bytes
    sentences.push(same ? 'it has the same text as before.' : `${delta}, now ${counted(after.bytes, 'byte')}.`)
  } else {
    sentences.push(`${delta}; ${rangesText(receipt.ranges)}; all other bytes are unchanged, which was checked.`)
  }
  if (strategy === 'line-endings') sentences.push("matched apart from line endings; the file's own were kept")
  if (strategy === 'whitespace') sentences.push("matched apart from white space; the file's own indentation was kept")
  if (isUnusual(after)) sentences.push(formText(after))
  if (before !== null) sentences.push(...formChanges(before, after))
  return sentences
}

function rangesText(ranges: ChangeValue['receipt']['ranges']): string {
  const shown = ranges
    .slice(0, MOST_RANGES)
    .map(({ start, end }) => (start === end ? `at ${start}` : `${start}-${end}`))
  const more = ranges.length - shown.length
  const list = shown.join(', ') + (more > 0 ? ` and ${more} more` : '')
  return `new bytes: ${list === '' ? 'none' : list}${ranges.length > 1 ? ` (${ranges.length} places)` : ''}`
}

function changedLines({ hunks, hunksCut }: ChangeValue): string[] {
  const all = hunks.flatMap((hunk, index) => (index === 0 ? hunkLines(hunk) : ['…', ...hunkLines(hunk)]))
  const shown = all.slice(0, MOST_LINES)
  const more = all.length - shown.length
  if (more > 0) shown.push(`[${counted(more, 'further changed line')} not shown; read them if you need them]`)
  else if (hunksCut) shown.push('[more has changed than is shown]')
  return shown
}

/** The new side of a hunk from its first changed line to its last, with one line that stayed on either side. */
function hunkLines({ newStart, oldText, newText }: ChangeValue['hunks'][number]): string[] {
  const [before, after] = [linesOf(oldText).map(bare), linesOf(newText).map(bare)]
  const most = Math.min(before.length, after.length)
  let from = 0
  while (from < most && before[from] === after[from]) from++
  let back = 0
  while (back < most - from && before[before.length - 1 - back] === after[after.length - 1 - back]) back++
  if (from === before.length && from === after.length) return ['[only line endings have changed]']
  const end = after.length - back
  const numbered = (index: number): string => `${newStart + index}\t${cut(after[index] ?? '')}`
  const shown: string[] = []
  if (from > 0) shown.push(numbered(from - 1))
  for (let index = from; index < end; index++) shown.push(numbered(index))
  if (from === end) shown.push(`[${counted(before.length - back - from, 'line')} removed here]`)
  if (end < after.length) shown.push(numbered(end))
  return shown
}

function bare(line: string): string {
  return line.replace(/(?:\r\n|\n|\r)$/, '')
}

function cut(line: string): string {
  if (line.length <= MOST_LENGTH) return line
  const last = line.charCodeAt(MOST_LENGTH - 1)
  const end = last >= 0xd800 && last <= 0xdbff ? MOST_LENGTH - 1 : MOST_LENGTH
  return `${line.slice(0, end)} … [line has ${line.length} characters]`
}
