// Rules of the form "every command that begins with these words": which are sound, what they cover, and the narrowest one for a command line.
import { isShellChange } from './builtins.ts'
import { hasSubcommands, launcherWords, programFault, riskOf, tellingWords } from './programs.ts'
import { readCommandLine, type SimpleCommand } from './reader.ts'
import { baseName, literalWord, type ShellWord } from './words.ts'
import { isPrivileged, isTransparent } from './wrappers.ts'

export type Prefix = readonly string[]

/** A suggestion with more words would be one command, not a rule. */
const MAX_SUGGESTED = 6

/**
 * Every simple command that a bash command line may run, as words, wherever it stands: in lists, pipelines, groups, loops, functions,
 * substitutions, here-documents, `bash -c`, `eval`, `env`, `xargs` and the like. Words that expand are given as they are written.
 * `unparsable` says why some of it cannot be told; such a line is never approved in advance.
 */
export function commandsOf(command: string): { commands: string[][] } | { unparsable: string } {
  const line = readCommandLine(command)
  if ('unparsable' in line) return line
  return { commands: line.commands.map(({ words }) => words.map(({ text }) => text)) }
}

/** Why these words are no rule, or undefined when they are. */
export function prefixFault(words: Prefix): string | undefined {
  if (!Array.isArray(words) || words.length === 0) return 'a prefix needs at least the name of a program'
  if (!words.every((word) => typeof word === 'string') || words[0]?.trim() === '') {
    return 'the words of a prefix are strings, the first the name of a program'
  }
  const [first = '', ...rest] = words
  const program = baseName(first)
  if (isPrivileged(program)) {
    return rest.length === 0 ? `${program} runs whatever it is given; name what it is to run` : prefixFault(rest)
  }
  if (isTransparent(program) && !/^-[vV]$/.test(rest[0] ?? '')) {
    return `${program} only starts another command; grant that command`
  }
  if (isShellChange(first)) return `${first} changes what other commands mean`
  const risk = riskOf(words.map(literalWord))
  if (risk !== undefined) return `with ${risk}, ${program} runs or writes whatever it is given`
  return programFault(words)
}

/** True when one of the prefixes begins this command, and nothing in it reaches further than its words say. */
export function coversCommand(prefixes: readonly Prefix[], command: SimpleCommand): boolean {
  return (
    isCoverable(command) &&
    prefixes.some((prefix) => prefixFault(prefix) === undefined && begins(prefix, command.words))
  )
}

/** The commands of a line that no prefix covers, or undefined when the line cannot be read or runs nothing: then nothing covers it. */
export function uncovered(prefixes: readonly Prefix[], command: string): readonly SimpleCommand[] | undefined {
  const line = readCommandLine(command)
  if ('unparsable' in line || line.commands.length === 0) return undefined
  return line.commands.filter((each) => !coversCommand(prefixes, each))
}

/** True when every simple command of the line begins with one of the prefixes. */
export function coversLine(prefixes: readonly Prefix[], command: string): boolean {
  return uncovered(prefixes, command)?.length === 0
}

/** The narrowest useful rule that covers what `granted` leaves uncovered; undefined when there is none. */
export function suggestPrefix(command: string, granted: readonly Prefix[] = []): Prefix | undefined {
  const left = uncovered(granted, command)
  if (left === undefined || left.length === 0) return undefined
  let common: Prefix | undefined
  for (const each of left) {
    const own = isCoverable(each) ? suggestion(each.words) : undefined
    if (own === undefined) return undefined
    common = common === undefined ? own : shared(common, own)
  }
  return common !== undefined && prefixFault(common) === undefined ? common : undefined
}

function suggestion(words: readonly ShellWord[]): Prefix | undefined {
  const literals: string[] = []
  for (const { text, literal } of words) {
    if (!literal || literals.length === MAX_SUGGESTED) break
    literals.push(text)
  }
  const [first = ''] = literals
  const before = isPrivileged(baseName(first)) ? 1 : launcherWords(literals)
  if (before > 0) {
    const inner = suggestion(literals.slice(before).map(literalWord))
    return inner === undefined ? undefined : [...literals.slice(0, before), ...inner]
  }
  if (!hasSubcommands(first)) return literals
  const telling = tellingWords(literals)
  return telling === undefined ? undefined : literals.slice(0, telling)
}

function isCoverable({ words, writes }: SimpleCommand): boolean {
  const start = words.findIndex(({ text }) => !isPrivileged(baseName(text)))
  return writes.length === 0 && start >= 0 && riskOf(words.slice(start)) === undefined
}

function begins(prefix: Prefix, words: readonly ShellWord[]): boolean {
  return (
    prefix.length <= words.length &&
    prefix.every((text, index) => words[index]?.literal === true && words[index].text === text)
  )
}

function shared(a: Prefix, b: Prefix): Prefix {
  const end = a.findIndex((word, index) => word !== b[index])
  return end < 0 ? a : a.slice(0, end)
}
