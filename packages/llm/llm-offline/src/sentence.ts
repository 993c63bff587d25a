// Reads "use the X tool …" sentences: which tools are meant, and which words are their arguments.
import type { ToolSchema } from '@deepseek-ai/dsh-tools'
import { unknownTool } from './command.ts'
import {
  primaryProperty,
  propertiesOf,
  takesCommand,
  typedArguments,
  type Arguments,
  type Intent,
  type Written,
} from './intent.ts'

interface Mention {
  readonly tool: ToolSchema
  readonly start: number
  readonly end: number
}

/** A pasted file is no request. */
const LONGEST_SENTENCE = 10_000
const NEGATED = /(?:\bdon['’]t|\bdo not|\bnever|\bwithout|\bnot)(?:\s+\w+)?\s*$/i
const QUESTION = /^(?:how|what|why|when|which|where|who|should|is|are|does|do)\b[^]*\?\s*$/i

/** The calls a sentence asks for; undefined when it asks for none. */
export function readSentence(text: string, tools: readonly ToolSchema[]): Intent | undefined {
  if (text.length > LONGEST_SENTENCE || QUESTION.test(text)) return undefined
  const mentions = mentionsOf(text, tools)
  if (mentions.length === 0) {
    const unknown = /\b(?:use|call|run|invoke)\s+(?:the\s+)?[`"']?([\w.:-]+)[`"']?\s+tool\b/i.exec(text)
    const named = unknown?.[1]
    if (unknown === null || named === undefined || /^(?:the|a|an|any|some|this|that|right|other)$/i.test(named))
      return undefined
    return NEGATED.test(text.slice(0, unknown.index)) ? undefined : { calls: [], problem: unknownTool(named, tools) }
  }
  const calls: { name: string; arguments: string }[] = []
  for (const [index, mention] of mentions.entries()) {
    const after = text.slice(mention.end, mentions[index + 1]?.start)
    const before = index === 0 ? text.slice(0, mention.start) : ''
    const read = readArguments(mention.tool, words(after) ? after : before, text)
    if ('problem' in read) return { calls: [], problem: read.problem }
    calls.push({ name: mention.tool.name, arguments: read.json })
  }
  return { calls }
}

function words(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text.replace(/\b(?:and|then|please)\b/gi, ''))
}

/** Mentions in text order. A verb makes one ("use greet"); after "and" or "then" the word "tool" is needed too. */
function mentionsOf(text: string, tools: readonly ToolSchema[]): Mention[] {
  const found: Mention[] = []
  const masked = maskQuotes(text, tools)
  for (const tool of tools) {
    const name = tool.name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    const mark = '[`"\'*]{0,2}'
    const asked = `\\b(?:use|using|call|calling|run|invoke|try|with)\\s+(?:the\\s+)?(?:tool\\s+)?${mark}${name}${mark}(?![\\w-])(?:\\s+tool\\b)?`
    const chained = `(?:\\b(?:and|then)\\b|,)\\s*(?:then\\s+)?(?:the\\s+)?${mark}${name}${mark}\\s+tool\\b`
    for (const match of masked.matchAll(new RegExp(`${asked}|${chained}`, 'gi'))) {
      // "with" alone is part of many sentences; with "the … tool" it is a request.
      if (/^with\b/i.test(match[0]) && !/\btool$/i.test(match[0])) continue
      if (NEGATED.test(masked.slice(0, match.index))) continue
      found.push({ tool, start: match.index, end: match.index + match[0].length })
    }
  }
  found.sort((a, b) => a.start - b.start || b.end - a.end)
  return found.filter((mention, index) => index === 0 || mention.start >= (found[index - 1]?.end ?? 0))
}

/** Blanks out quoted text of the same length, so that what it says is not taken for a request. Quoted tool names stay. */
function maskQuotes(text: string, tools: readonly ToolSchema[]): string {
  const names = new Set(tools.map((tool) => tool.name))
  return text.replace(QUOTED, (whole, ...groups: unknown[]) => {
    const inner = groups.slice(0, 4).find((group) => typeof group === 'string')
    return typeof inner === 'string' && names.has(inner) ? whole : ' '.repeat(whole.length)
  })
}

// An apostrophe inside a word is no quote.
const QUOTED = /`([^`]+)`|"([^"]+)"|“([^”]+)”|(?<![\p{L}\p{N}])'([^']+)'(?![\p{L}\p{N}])/gu
const HOLE = /\uE000(\d+)\uE000/g
const STOP_WORDS = /^(?:to|of|the|a|an|and|with|on|for|in|is|tool|then)$/i

function readArguments(tool: ToolSchema, segment: string, sentence: string): Arguments {
  const json = /\{[^]*\}/.exec(segment)?.[0]
  if (json !== undefined && isObject(json)) return { json }
  const quotes: string[] = []
  let text = segment.replaceAll('\uE000', ' ').replace(QUOTED, (...match: unknown[]) => {
    quotes.push(match.slice(1, 5).find((group): group is string => typeof group === 'string') ?? '')
    return `\uE000${quotes.length - 1}\uE000`
  })
  const values = new Map<string, Written>()
  for (const name of propertiesOf(tool).keys()) {
    const pair = pairOf(name, text)
    if (pair === undefined) continue
    values.set(name, filled(pair.value, quotes))
    text = text.replace(pair.whole, ' ')
  }
  const primary = primaryProperty(tool)
  if (primary !== undefined && !values.has(primary)) {
    const value = primaryValue(tool, text, quotes)
    if (value !== undefined) values.set(primary, value)
  }
  loneValue(tool, text, values)
  return typedArguments(tool, values, sentence)
}

function isObject(json: string): boolean {
  try {
    const value: unknown = JSON.parse(json)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false // braces that are no JSON are ordinary text
  }
}

/** `name: Ada Lovelace,` up to a comma, `name=Ada` and `name Ada` one word, each also quoted. */
function pairOf(name: string, text: string): { whole: string; value: string } | undefined {
  const key = name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  const end = `(?=\\s*(?:[,;\\n]|\\s(?:and|then)\\s|[.!?]?\\s*$))`
  const colon = new RegExp(`(?<![\\w-])${key}\\s*:\\s*(\\uE000\\d+\\uE000|[^,;\\n]+?)${end}`, 'i').exec(text)
  const other = new RegExp(`(?<![\\w-])${key}(?:\\s*=\\s*|\\s+(?:is\\s+)?)(\\uE000\\d+\\uE000|[^\\s,;]+)`, 'i').exec(
    text,
  )
  for (const match of [colon, other]) {
    const value = match?.[1]?.replace(/[.!?]+$/, '')
    if (match !== null && value !== undefined && value !== '' && !STOP_WORDS.test(value))
      return { whole: match[0], value }
  }
  return undefined
}

function filled(value: string, quotes: readonly string[]): Written {
  const whole = /^\uE000(\d+)\uE000$/.exec(value)
  if (whole !== null) return { text: quotes[Number(whole[1])] ?? '', quoted: true }
  return { text: value.replace(HOLE, (_, index) => quotes[Number(index)] ?? ''), quoted: false }
}

function primaryValue(tool: ToolSchema, text: string, quotes: readonly string[]): Written | undefined {
  const hole = HOLE_ONCE.exec(text)
  if (hole !== null) return { text: quotes[Number(hole[1])] ?? '', quoted: true }
  const plain = text.replace(/\b(?:and|then)\s*$/i, '').replace(/[\s,;.!?]+$/, '')
  const patterns = takesCommand(tool) ? COMMAND_TEXT : ARGUMENT_TEXT
  for (const pattern of patterns) {
    const value = pattern.exec(plain)?.[1]?.trim()
    if (value !== undefined && value !== '' && !STOP_WORDS.test(value)) return { text: value, quoted: false }
  }
  return undefined
}

const HOLE_ONCE = /\uE000(\d+)\uE000/
/** A command is taken only where it is spelled out: "list the files" is not one. */
const COMMAND_TEXT = [/\bto\s+(?:run|execute)\s+(?:the\s+command\s+)?(.+)$/is, /^\s*(?:run\s*)?:\s*(.+)$/is]
const ARGUMENT_TEXT = [
  /\bto\s+say\s+\w+\s+to\s+(.+)$/is,
  /\bto\s+\p{L}+\s+(.+)$/isu,
  /\b(?:with|on|for|about)\s+(.+)$/is,
  /^\s*:\s*(.+)$/s,
  /^\s*(?:please\s+)?\p{L}+\s+(.+)$/su,
]

/** A lone number or truth value in the sentence is for the only required property of that type. */
function loneValue(tool: ToolSchema, text: string, values: Map<string, Written>): void {
  const missing = (tool.parameters.required ?? []).filter((name) => !values.has(name))
  const [name] = missing
  if (name === undefined || missing.length > 1) return
  const type = propertiesOf(tool).get(name)?.type
  let found: string | undefined
  if (type === 'number' || type === 'integer') found = /(?<![\w.])-?\d+(?:\.\d+)?(?![\w])/.exec(text)?.[0]
  if (type === 'boolean') found = /\b(?:true|false)\b/.exec(text)?.[0]
  if (found !== undefined) values.set(name, { text: found, quoted: false })
}
