// Words of a command line: which of them say exactly what the program will get, and which are only known when the shell runs.
import type { CommandArgument, Word, WordPart } from 'unbash'

/** `literal`: `text` is what the program gets, as one argument. Otherwise it is the source of something that expands. */
export interface ShellWord {
  readonly text: string
  readonly literal: boolean
}

export const literalWord = (text: string): ShellWord => ({ text, literal: true })

/** Stands for arguments that come from somewhere else, e.g. from the input of xargs. */
export const UNKNOWN_WORD: ShellWord = { text: '…', literal: false }

export function shellWord(argument: CommandArgument): ShellWord {
  if (argument.type === 'Word') return plainWord(argument)
  const { name, value, index, append } = argument
  if (value.type !== 'Word' || index !== undefined || append === true) return { text: argument.text, literal: false }
  const { text, literal } = plainWord(value)
  return { text: literal ? `${name}=${text}` : argument.text, literal }
}

function plainWord(word: Word): ShellWord {
  const literal = !word.text.startsWith('~') && (word.parts ?? []).every(isLiteral)
  return { text: literal ? word.value : word.text, literal }
}

function isLiteral(part: WordPart): boolean {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      return true
    case 'DoubleQuoted':
      return part.parts.every(isLiteral)
    default:
      return false
  }
}

/** Anything else that bash evaluates as arithmetic may name a variable, and what a variable holds is evaluated in turn. */
export const isNumber = (text: string): boolean => /^\s*[+-]?(?:\d+|0[xX][\da-fA-F]+)\s*$/.test(text)

/** The program's own name: `/usr/bin/env` is `env`. */
export const baseName = (program: string): string => program.slice(program.lastIndexOf('/') + 1)

/** A set written as a text: names apart by commas, on as many lines as it takes. */
export const listed = (text: string): ReadonlySet<string> => new Set(text.split(',').map((name) => name.trim()))
