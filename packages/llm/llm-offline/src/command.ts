// Reads `/tool {json}`, `/tool key=value …` and `/tool text` lines. One bad line stops the whole message.
import { nearestName } from '@deepseek-ai/dsh-llm'
import type { ToolSchema } from '@deepseek-ai/dsh-tools'
import {
  form,
  primaryProperty,
  propertiesOf,
  typedArguments,
  type Arguments,
  type Intent,
  type Written,
} from './intent.ts'

const COMMAND = /^\/([A-Za-z_][\w.:-]*)(?=\s|$)/
const KEY = /([A-Za-z_][\w.-]*)=/y

/** The commands of a message; undefined when it holds none. */
export function readCommands(text: string, tools: readonly ToolSchema[]): Intent | undefined {
  let rest = fromFirstCommand(text, tools)
  if (rest === undefined) return undefined
  const calls: { name: string; arguments: string }[] = []
  while (rest !== '') {
    const name: string | undefined = COMMAND.exec(rest)?.[1]
    if (name === undefined) {
      return {
        calls: [],
        problem: `I cannot read ${JSON.stringify(firstLine(rest))}: each line must start with /tool.`,
      }
    }
    const tool = tools.find((each) => each.name === name)
    if (tool === undefined) return { calls: [], problem: unknownTool(name, tools) }
    const scanner = new Scanner(rest.slice(name.length + 1))
    const read = readArguments(tool, scanner)
    if ('problem' in read) return { calls: [], problem: read.problem }
    calls.push({ name, arguments: read.json })
    rest = scanner.remaining().trim()
  }
  return { calls }
}

/** A message that starts with `/` is a command whatever its name; further down only the name of a tool makes one. */
function fromFirstCommand(text: string, tools: readonly ToolSchema[]): string | undefined {
  if (COMMAND.test(text)) return text
  const names = new Set(tools.map((tool) => tool.name))
  let start = 0
  for (const line of text.split('\n')) {
    const name = COMMAND.exec(line)?.[1]
    if (name !== undefined && names.has(name)) return text.slice(start).trim()
    start += line.length + 1
  }
  return undefined
}

export function unknownTool(name: string, tools: readonly ToolSchema[]): string {
  if (tools.length === 0) return `There is no tool "${name}": this session has no tools.`
  const names = tools.map((tool) => tool.name)
  const nearest = nearestName(name, names)
  const meant = nearest === undefined ? '' : ` Did you mean /${nearest}?`
  return `There is no tool "${name}".${meant} Tools here: ${names.slice(0, 20).join(', ')}${names.length > 20 ? ', …' : ''}.`
}

function readArguments(tool: ToolSchema, scanner: Scanner): Arguments {
  scanner.skipBlanks()
  if (scanner.peek() === '{') return readJson(tool, scanner)
  const first = scanner.peekKey()
  const primary = primaryProperty(tool)
  const properties = propertiesOf(tool)
  if (primary !== undefined && !scanner.atLineEnd() && (first === undefined || !properties.has(first))) {
    const value = scanner.line()
    return typedArguments(tool, new Map([[primary, value]]), value.text)
  }
  return readPairs(tool, scanner)
}

/** JSON is passed on exactly as written; the tool itself says what does not fit its schema. */
function readJson(tool: ToolSchema, scanner: Scanner): Arguments {
  const json = scanner.balanced()
  try {
    JSON.parse(json)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return { problem: `The arguments of /${tool.name} are not JSON: ${reason}. ${form(tool)}` }
  }
  scanner.skipBlanks()
  if (!scanner.atLineEnd()) {
    return { problem: `I cannot read ${JSON.stringify(scanner.line().text)} after the arguments of /${tool.name}.` }
  }
  return { json }
}

function readPairs(tool: ToolSchema, scanner: Scanner): Arguments {
  const values = new Map<string, Written>()
  for (scanner.skipBlanks(); !scanner.atLineEnd(); scanner.skipBlanks()) {
    const key = scanner.key()
    if (key === undefined) {
      return { problem: `I cannot read ${JSON.stringify(scanner.line().text)} of /${tool.name}. ${form(tool)}` }
    }
    if (values.has(key)) return { problem: `"${key}" of /${tool.name} is given twice.` }
    const value = scanner.value()
    if (value === undefined) return { problem: `The quoted value of "${key}" of /${tool.name} does not end.` }
    values.set(key, value)
  }
  return typedArguments(tool, values, values.get('command')?.text ?? tool.name)
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? ''
}

/** Walks the text behind `/tool`. */
class Scanner {
  private readonly text: string
  private at = 0

  constructor(text: string) {
    this.text = text
  }

  peek(): string {
    return this.text.charAt(this.at)
  }

  remaining(): string {
    return this.text.slice(this.at)
  }

  atLineEnd(): boolean {
    return this.at >= this.text.length || this.peek() === '\n' || this.remaining().startsWith('\r\n')
  }

  skipBlanks(): void {
    while (this.peek() === ' ' || this.peek() === '\t') this.at++
  }

  peekKey(): string | undefined {
    KEY.lastIndex = this.at
    return KEY.exec(this.text)?.[1]
  }

  key(): string | undefined {
    const key = this.peekKey()
    if (key !== undefined) this.at = KEY.lastIndex
    return key
  }

  /** The rest of the line as one value; quotes around the whole of it are taken off. */
  line(): Written {
    const start = this.at
    const quoted = QUOTES.has(this.peek()) ? this.value() : undefined
    this.skipBlanks()
    if (quoted !== undefined && this.atLineEnd()) return quoted
    this.at = start
    const end = this.text.indexOf('\n', start)
    this.at = end === -1 ? this.text.length : end
    return { text: this.text.slice(start, this.at).trim(), quoted: false }
  }

  /** A quoted value, JSON brackets, or everything up to the next blank. Undefined when a quote does not end. */
  value(): Written | undefined {
    const quote = this.peek()
    if (QUOTES.has(quote)) return this.quotedValue(quote)
    if (quote === '{' || quote === '[') return { text: this.balanced(), quoted: false }
    const start = this.at
    while (this.at < this.text.length && !/\s/.test(this.peek())) this.at++
    return { text: this.text.slice(start, this.at), quoted: false }
  }

  /** From an opening bracket to its partner, strings skipped; to the end of the text when there is none. */
  balanced(): string {
    const start = this.at
    let depth = 0
    let inString = false
    for (; this.at < this.text.length; this.at++) {
      const character = this.peek()
      if (inString) {
        if (character === '\\') this.at++
        else if (character === '"') inString = false
      } else if (character === '"') inString = true
      else if (character === '{' || character === '[') depth++
      else if ((character === '}' || character === ']') && --depth === 0) {
        this.at++
        break
      }
    }
    return this.text.slice(start, this.at)
  }

  /** Double quotes read as a JSON string; in the others a backslash protects the quote and itself. */
  private quotedValue(quote: string): Written | undefined {
    const start = this.at
    for (this.at++; this.at < this.text.length && this.peek() !== quote; this.at++) if (this.peek() === '\\') this.at++
    if (this.at >= this.text.length) {
      this.at = start
      return undefined
    }
    this.at++
    const inner = this.text.slice(start + 1, this.at - 1)
    return { text: (quote === '"' ? jsonString(inner) : undefined) ?? unescaped(inner, quote), quoted: true }
  }
}

const QUOTES = new Set(['"', "'", '`'])

function jsonString(inner: string): string | undefined {
  try {
    const value: unknown = JSON.parse(`"${inner.replaceAll('\n', '\\n').replaceAll('\t', '\\t')}"`)
    return typeof value === 'string' ? value : undefined
  } catch {
    return undefined // an escape that JSON does not know: taken literally
  }
}

function unescaped(inner: string, quote: string): string {
  return inner.replaceAll(`\\${quote}`, quote).replaceAll('\\\\', '\\')
}
