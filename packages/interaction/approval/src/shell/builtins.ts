// Builtins that change what later words mean or run text that nobody reads here. A command line with one of them is never approved in advance.
import { listed, type ShellWord } from './words.ts'

const CHANGE_THE_SHELL = listed(`
  alias, unalias, enable, hash, set, shopt, source, ., trap, bind, complete, compgen, compopt, fc, history, disown,
  export, declare, typeset, local, readonly, unset, read, mapfile, readarray, getopts, let
`)

/** Why this command makes its line unreadable, or undefined. */
export function shellChange(words: readonly ShellWord[]): string | undefined {
  const [{ text: name } = { text: '' }, ...args] = words
  if (CHANGE_THE_SHELL.has(name)) return `${name} changes what other commands mean`
  const first = args[0]
  switch (name) {
    case 'printf':
      return first?.literal === true && !first.text.startsWith('-v') ? undefined : `${name} may set a variable`
    case 'wait':
    case 'jobs':
      return args.every(({ literal, text }) => literal && !/^-.*[px]/.test(text))
        ? undefined
        : `${name} may set a variable or run a command`
    case 'test':
    case '[':
      // Note: `-v` and `-R` evaluate the subscript of the name they are given, and an operand may turn out to be `-v`.
      return args.every(({ literal, text }) => literal && text !== '-v' && text !== '-R')
        ? undefined
        : `${name} may evaluate its operands`
    default:
      return undefined
  }
}

export const isShellChange = (name: string): boolean => CHANGE_THE_SHELL.has(name)
