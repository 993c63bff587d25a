// What exactly takes the place of a match: the new text with the file's own line endings and indentation, reduced to what really differs.
import type { FsStrategy } from '@deepseek-ai/dsh-fs'
import { EOL_TEXT, eolOf } from './encoding.ts'
import { matchLines } from '@deepseek-ai/dsh-fs/line-diff'
import { folded, splitLines, type Line, type Place } from './matching.ts'

export interface Replacement extends Place {
  readonly text: string
}

/** The replacements of one match, in order; none when nothing changes. */
export function replacementsOf(
  file: string,
  place: Place,
  edit: { readonly oldText: string; readonly newText: string },
  strategy: FsStrategy,
): Replacement[] {
  const found = file.slice(place.start, place.end)
  if (strategy === 'exact' && found === edit.oldText && !/[\r\n]/.test(edit.newText)) {
    return [trimmed(file, { ...place, text: edit.newText })]
  }
  const eol = localEol(file, place)
  const wanted = strategy === 'whitespace' ? reindented(found, edit) : edit.newText
  // A text that brings carriage returns of its own means them.
  const explicit = edit.newText.includes('\r') && strategy === 'exact'
  if (explicit) return [trimmed(file, { ...place, text: wanted })]
  return byLines(file, place, wanted, eol)
}

/** The line ending in use where the match is; that of the whole file when the match is on its only line. */
function localEol(file: string, { start, end }: Place): string {
  const inside = /\r\n|\n|\r/.exec(file.slice(start, end))?.[0]
  if (inside !== undefined) return inside
  const after = /\r\n|\n|\r/.exec(file.slice(end, end + 100_000))?.[0]
  if (after !== undefined) return after
  const kind = eolOf(file)
  return kind === 'mixed' || kind === 'none' ? (/\r\n|\n|\r/.exec(file)?.[0] ?? '\n') : EOL_TEXT[kind]
}

/** Lines that stay keep their bytes, endings included; new ones get the ending. The end is as open as that of the new text. */
function byLines(file: string, place: Place, wanted: string, eol: string): Replacement[] {
  const before = splitLines(file.slice(place.start, place.end))
  const after = splitLines(wanted)
  const matched = matchLines(
    before.map(({ text }) => text),
    after.map(({ text }) => text),
  )
  const kept = new Map<number, Line>()
  for (const [index, line] of before.entries()) if (matched[index]! >= 0) kept.set(matched[index]!, line)
  let text = ''
  for (const [index, { text: fresh }] of after.entries()) {
    const old = kept.get(index)
    // What was the last line of the match may have no ending; something follows it now.
    if (text !== '' && !isEnded(text)) text += eol
    text += old === undefined ? fresh + eol : file.slice(place.start + old.start, place.start + old.next)
  }
  if (after.length > 0 && isEnded(wanted) && !isEnded(text)) text += eol
  else if (after.length > 0 && !isEnded(wanted)) text = text.replace(/(?:\r\n|\n|\r)$/, '')
  return [trimmed(file, { ...place, text })]
}

function isEnded(text: string): boolean {
  return /[\r\n]$/.test(text.slice(-1))
}

/** Leaves out what is the same at both ends. Never cuts a pair of surrogates or of CR and LF in two. */
function trimmed(file: string, { start, end, text }: Replacement): Replacement {
  let from = 0
  const most = Math.min(end - start, text.length)
  while (from < most && file[start + from] === text[from]) from++
  while (from > 0 && splitsPair(text, from, file, start + from)) from--
  let back = 0
  while (back < most - from && file[end - 1 - back] === text[text.length - 1 - back]) back++
  while (back > 0 && splitsPair(text, text.length - back, file, end - back)) back--
  return { start: start + from, end: end - back, text: text.slice(from, text.length - back) }
}

function splitsPair(a: string, atA: number, b: string, atB: number): boolean {
  return splits(a, atA) || splits(b, atB)
}

function splits(text: string, at: number): boolean {
  const [before, after] = [text.charCodeAt(at - 1), text.charCodeAt(at)]
  return (before >= 0xd800 && before <= 0xdbff && after >= 0xdc00 && after <= 0xdfff) || (before === 13 && after === 10)
}

/**
 * The new text in the file's own indentation: lines that are in the old text as well become the file's lines, new ones get the
 * indentation that the file has where the old text had theirs.
 */
function reindented(
  found: string,
  { oldText, newText }: { readonly oldText: string; readonly newText: string },
): string {
  const theirs = splitLines(oldText).map(({ text }) => text)
  const ours = splitLines(found).map(({ text }) => text)
  const offset = theirs.findIndex((line) => folded(line) !== '')
  const lineOfFile = new Map<string, string>()
  const indents = new Map<string, string>()
  for (const [index, line] of ours.entries()) {
    const mine = theirs[index + Math.max(0, offset)]
    if (mine === undefined) continue
    if (!lineOfFile.has(folded(mine))) lineOfFile.set(folded(mine), line)
    if (!indents.has(indentOf(mine))) indents.set(indentOf(mine), indentOf(line))
  }
  const lines = splitLines(newText).map(({ text, end, next }) => {
    const kept = folded(text) === '' ? undefined : lineOfFile.get(folded(text))
    return (kept ?? inFileIndent(text, indents)) + newText.slice(end, next)
  })
  return lines.join('')
}

function inFileIndent(line: string, indents: ReadonlyMap<string, string>): string {
  const indent = indentOf(line)
  const known = indents.get(indent)
  if (known !== undefined) return known + line.slice(indent.length)
  // The deepest known indentation that this one goes on from.
  let base = ''
  for (const each of indents.keys()) if (indent.startsWith(each) && each.length >= base.length) base = each
  const mapped = indents.get(base)
  return mapped === undefined ? line : mapped + line.slice(base.length)
}

function indentOf(line: string): string {
  return /^[^\S\r\n]*/.exec(line)?.[0] ?? ''
}
