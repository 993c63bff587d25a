// Reads a bash command line into every simple command that it may run, wherever that stands. What cannot be told for certain makes the
// whole line unreadable; nothing here runs anything.
import { forEachChild, parse, type Command, type Redirection, type SyntaxNode } from 'unbash'
import { errorMessage } from '@deepseek-ai/cordis'
import { shellChange } from './builtins.ts'
import { isSteering } from './variables.ts'
import { isNumber, literalWord, shellWord, type ShellWord } from './words.ts'
import { unwrap } from './wrappers.ts'

export interface SimpleCommand {
  /** Program and arguments, assignments and wrappers taken off. Never empty; the first is literal. */
  readonly words: readonly ShellWord[]
  /** Where its output is redirected to, unless that is no file. */
  readonly writes: readonly string[]
}

export type CommandLine = { readonly commands: readonly SimpleCommand[] } | { readonly unparsable: string }

/** A command line longer than this is not read, in UTF-16 code units. */
const MAX_LENGTH = 100_000
/** Scripts in arguments of scripts in arguments … */
const MAX_SCRIPTS = 8

// Bash takes these for parts of a word where an editor shows a blank or nothing; a person could not tell what they allow.
// oxlint-disable-next-line no-control-regex
const UNSEEN = /[\0-\x08\x0b-\x1f\x7f\u0085\u00a0\u1680\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff]|\p{Cs}/u

class Unreadable extends Error {}

/** Never throws. */
export function readCommandLine(source: string): CommandLine {
  try {
    const reader = new Reader()
    reader.script(source, { writes: [], as: [], depth: 0 })
    return { commands: reader.finish() }
  } catch (error) {
    return { unparsable: error instanceof Unreadable ? error.message : `the parser gave up: ${errorMessage(error)}` }
  }
}

/** What encloses a command. */
interface Around {
  readonly writes: readonly string[]
  /** Programs that give it other rights, outermost first. */
  readonly as: readonly string[]
  readonly depth: number
}

class Reader {
  private readonly commands: SimpleCommand[] = []
  private readonly functions = new Set<string>()

  finish(): SimpleCommand[] {
    for (const { words } of this.commands) {
      const name = words[0]?.text ?? ''
      if (this.functions.has(name)) throw new Unreadable(`a function takes the place of ${name}`)
    }
    return this.commands
  }

  script(source: string, around: Around): void {
    if (source.length > MAX_LENGTH) throw new Unreadable('it is too long to be read')
    if (around.depth > MAX_SCRIPTS) throw new Unreadable('scripts are nested too deeply')
    if (UNSEEN.test(source)) throw new Unreadable('it contains characters that cannot be seen')
    this.visit(parse(source), around)
  }

  private visit(node: SyntaxNode, around: Around): void {
    switch (node.type) {
      case 'Command':
        return this.command(node, around)
      case 'Redirected':
        return this.children(node, { ...around, writes: [...around.writes, ...writesOf(node.redirects)] })
      case 'Function':
        this.functions.add(node.name.value)
        return this.children(node, around)
      default:
        check(node)
        return this.children(node, around)
    }
  }

  private children(node: SyntaxNode, around: Around): void {
    forEachChild(node, (child) => this.visit(child, around))
  }

  private command(node: Command, around: Around): void {
    this.children(node, around)
    const writes = [...around.writes, ...writesOf(node.redirects)]
    if (node.name === undefined) {
      if (writes.length > 0) throw new Unreadable(`a redirection without a command writes to ${writes[0]}`)
      return
    }
    this.place([shellWord(node.name), ...node.args.map(shellWord)], { ...around, writes })
  }

  private place(words: readonly ShellWord[], around: Around): void {
    const [program] = words
    if (program?.literal !== true) {
      throw new Unreadable(`which program runs depends on ${JSON.stringify(program?.text ?? '')}`)
    }
    const change = shellChange(words)
    if (change !== undefined) throw new Unreadable(change)
    const unwrapped = unwrap(words)
    const depth = around.depth + 1
    switch (unwrapped.kind) {
      case 'opaque':
        throw new Unreadable(unwrapped.reason)
      case 'script':
        return this.script(unwrapped.text, { ...around, depth })
      case 'words': {
        if (depth > MAX_SCRIPTS) throw new Unreadable('commands are wrapped too deeply')
        const as = unwrapped.as === undefined ? around.as : [...around.as, unwrapped.as]
        return this.place(unwrapped.words, { ...around, as, depth })
      }
      case 'plain':
        this.commands.push({ words: [...around.as.map(literalWord), ...words], writes: around.writes })
    }
  }
}

/** Throws for what bash may turn into commands, or into another meaning of later words, without any of it standing here. */
function check(node: SyntaxNode): void {
  switch (node.type) {
    case 'Script': {
      const [error] = node.errors ?? []
      if (error !== undefined) throw new Unreadable(`it is not valid bash: ${error.message}`)
      return
    }
    case 'CommandExpansion':
    case 'ProcessSubstitution':
      if (node.script === undefined) throw new Unreadable(`what ${node.text} runs cannot be told`)
      return
    case 'Coproc':
      throw new Unreadable('a coprocess runs beside it')
    case 'For':
    case 'Select':
      return settable(node.name.value)
    case 'FileDescriptorVariable':
      return settable(node.name)
    case 'Assignment':
      settable(node.name)
      if (node.index !== undefined || node.value.type === 'ArrayValue') {
        throw new Unreadable(`${node.text} may evaluate a subscript`)
      }
      return
    case 'ArithmeticExpansion':
    case 'ArithmeticCommand':
      if (node.expression === undefined) throw new Unreadable('an arithmetic expression cannot be read')
      return
    case 'ArithmeticWord':
      return numeric(node.value)
    case 'ArithmeticCommandExpansion':
      return numeric(node.text)
    case 'TestUnary':
      if (node.operator === '-v' || node.operator === '-R') numeric(node.operand.text)
      return
    case 'TestBinary':
      if (/^-(?:eq|ne|lt|le|gt|ge)$/.test(node.operator)) {
        numeric(node.left.value)
        numeric(node.right.value)
      }
      return
    case 'ParameterExpansion':
      return parameter(node)
  }
}

function parameter({
  text,
  prefix,
  index,
  operation,
  parameter: name,
}: SyntaxNode & { type: 'ParameterExpansion' }): void {
  if (prefix === '!') throw new Unreadable(`${text} names a variable by another one`)
  if (index !== undefined && index.value !== '@' && index.value !== '*') numeric(index.value)
  switch (operation?.type) {
    case 'Slice':
      numeric(operation.offset.value)
      if (operation.length !== undefined) numeric(operation.length.value)
      return
    case 'Default':
      if (operation.operator === '=' || operation.operator === ':=') settable(name)
      return
    case 'Transform':
      // `@P` expands what the variable holds as a prompt, commands included.
      if (!/^[QEUuLKka]$/.test(operation.operand.value)) throw new Unreadable(`${text} may run what ${name} holds`)
      return
    case 'Names':
    case 'Unknown':
      throw new Unreadable(`what ${text} does cannot be told`)
  }
}

function settable(name: string): void {
  if (isSteering(name)) throw new Unreadable(`${name} changes what commands do`)
}

function numeric(text: string): void {
  if (!isNumber(text)) throw new Unreadable(`arithmetic on ${JSON.stringify(text)} may run what a variable holds`)
}

/** Targets of redirections that may change a file or open a connection. */
function writesOf(redirections: readonly Redirection[]): string[] {
  const targets: string[] = []
  for (const redirection of redirections) {
    if (redirection.type !== 'Redirect') continue
    const { operator, target } = redirection
    const { text, literal } = target === undefined ? { text: '', literal: false } : shellWord(target)
    if (operator === '>&' || operator === '<&') {
      if (literal && /^\d*-?$/.test(text)) continue
      // Note: bash expands any other target twice, quotes or not.
      throw new Unreadable(`${operator}${text} may run what its target holds`)
    }
    if (operator === '<' && !literal) continue
    if (isHarmless(operator, text)) continue
    targets.push(text)
  }
  return targets
}

function isHarmless(operator: string, target: string): boolean {
  // Bash opens a connection for these names.
  if (operator === '<') return !/^\/dev\/(?:tcp|udp)\//.test(target)
  return target === '/dev/null' || target === '/dev/stdout' || target === '/dev/stderr'
}
