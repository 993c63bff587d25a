// Programs that only start another one. What they start is what counts; where that is not certain, the command line is unreadable.
import { isSteering } from './variables.ts'
import { baseName, literalWord, UNKNOWN_WORD, type ShellWord } from './words.ts'

export type Unwrapped =
  /** No wrapper: the words are the command. */
  | { readonly kind: 'plain' }
  /** It runs these words; `as` stays in front of them, since it gives them other rights. */
  | { readonly kind: 'words'; readonly words: readonly ShellWord[]; readonly as?: string }
  /** It runs this text as bash would. */
  | { readonly kind: 'script'; readonly text: string }
  | { readonly kind: 'opaque'; readonly reason: string }

interface Options {
  /** Options that stand alone. */
  readonly flags?: RegExp
  /** Options that take the next word. */
  readonly values?: RegExp
  /** Words between the options and the command. */
  readonly operands?: number
}

const PLAIN: Unwrapped = { kind: 'plain' }

const TRANSPARENT: ReadonlyMap<string, Options> = new Map<string, Options>([
  ['nohup', {}],
  ['builtin', {}],
  ['command', { flags: /^-p$/ }],
  ['exec', { flags: /^-[cl]+$/, values: /^-a$/ }],
  ['nice', { flags: /^-\d+$|^-n-?\d+$|^--adjustment=-?\d+$/, values: /^(?:-n|--adjustment)$/ }],
  ['ionice', { flags: /^-[cn]\d$|^-t$/, values: /^-[cn]$/ }],
  ['setsid', { flags: /^-[cfw]+$|^--(?:ctty|fork|wait)$/ }],
  ['stdbuf', { flags: /^-[ioe].+$|^--(?:input|output|error)=/, values: /^-[ioe]$/ }],
  ['time', { flags: /^-[pv]$|^--(?:portability|verbose)$/ }],
  [
    'timeout',
    {
      flags: /^-v$|^-[sk].+$|^--(?:foreground|preserve-status|verbose)$|^--(?:signal|kill-after)=/,
      values: /^-[sk]$|^--(?:signal|kill-after)$/,
      operands: 1,
    },
  ],
])

const PRIVILEGED: ReadonlyMap<string, Options> = new Map([
  ['sudo', { flags: /^-n$/ }],
  ['doas', { flags: /^-n$/ }],
])

/** Shells whose language is the one that is read here; the others' scripts are not looked into. */
const BASH_LIKE: ReadonlySet<string> = new Set(['bash', 'sh', 'dash', 'ash'])
const OTHER_SHELLS: ReadonlySet<string> = new Set(['zsh', 'ksh', 'mksh', 'fish', 'csh', 'tcsh', 'nu', 'pwsh'])

const ENV: Options = {
  flags: /^-$|^-[i0v]$|^--(?:ignore-environment|null|debug)$|^--(?:unset|chdir)=/,
  values: /^-[uC]$|^--(?:unset|chdir)$/,
}
const XARGS: Options = {
  flags: /^-[0rtx]+$|^-[nPLsdEI].+$|^--(?:null|no-run-if-empty|verbose|exit)$|^--[a-z-]+=/,
  values: /^-[nPLsdEaI]$/,
}

export const isShell = (program: string): boolean => BASH_LIKE.has(program) || OTHER_SHELLS.has(program)
export const isPrivileged = (program: string): boolean => PRIVILEGED.has(program)
/** Its words never are the command: what it starts is. */
export const isTransparent = (program: string): boolean =>
  TRANSPARENT.has(program) || program === 'env' || program === 'xargs' || program === 'eval'

export function unwrap(words: readonly ShellWord[]): Unwrapped {
  const program = baseName(words[0]?.text ?? '')
  if (program === 'eval') return evaluated(words)
  if (isShell(program)) return shellScript(program, words)
  if (program === 'env') return environment(words)
  if (program === 'xargs') return appended(words)
  const transparent = TRANSPARENT.get(program)
  if (transparent !== undefined) {
    // `command -v x` only tells where x is.
    if (program === 'command' && /^-[vV]$/.test(words[1]?.text ?? '')) return PLAIN
    return behind(program, words, transparent)
  }
  const privileged = PRIVILEGED.get(program)
  if (privileged === undefined) return PLAIN
  const inner = behind(program, words, privileged)
  return inner.kind === 'words' ? { ...inner, as: program } : inner
}

function behind(program: string, words: readonly ShellWord[], options: Options): Unwrapped {
  const start = afterOptions(words, options)
  if (typeof start !== 'number') return opaque(program, start.unknown)
  const operands = options.operands ?? 0
  const between = words.slice(start, start + operands).find(({ literal }) => !literal)
  if (between !== undefined) return opaque(program, between)
  const inner = words.slice(start + operands)
  return inner.length === 0 ? PLAIN : { kind: 'words', words: inner }
}

/** Index of the first word that is no option, or the word that cannot be told. */
function afterOptions(words: readonly ShellWord[], { flags, values }: Options): number | { unknown: ShellWord } {
  let index = 1
  for (let word = words[index]; word !== undefined; word = words[index]) {
    if (!word.literal) return { unknown: word }
    if (word.text === '--') return index + 1
    if (flags?.test(word.text) === true) index += 1
    else if (values?.test(word.text) === true) {
      const value = words[index + 1]
      if (value?.literal === false) return { unknown: value }
      index += 2
    } else if (word.text.startsWith('-')) return { unknown: word }
    else return index
  }
  return index
}

function environment(words: readonly ShellWord[]): Unwrapped {
  let start = afterOptions(words, ENV)
  if (typeof start !== 'number') return opaque('env', start.unknown)
  for (let word = words[start]; word !== undefined; word = words[++start]) {
    if (!word.literal) return opaque('env', word)
    const equals = word.text.indexOf('=')
    if (equals < 0) break
    const name = word.text.slice(0, equals)
    if (isSteering(name)) return { kind: 'opaque', reason: `${name} changes what commands do` }
  }
  const inner = words.slice(start)
  return inner.length === 0 ? PLAIN : { kind: 'words', words: inner }
}

function appended(words: readonly ShellWord[]): Unwrapped {
  const start = afterOptions(words, XARGS)
  if (typeof start !== 'number') return opaque('xargs', start.unknown)
  const marks = replaceMarks(words.slice(1, start))
  const given = words.slice(start)
  const inner = given.length === 0 ? [literalWord('echo')] : given
  const filled = inner.map((word) =>
    marks.some((mark) => word.text.includes(mark)) ? { ...word, literal: false } : word,
  )
  return { kind: 'words', words: [...filled, UNKNOWN_WORD] }
}

/** What xargs puts an input line in place of. */
function replaceMarks(options: readonly ShellWord[]): string[] {
  const marks: string[] = []
  for (const [index, { text }] of options.entries()) {
    if (text === '-I') marks.push(options[index + 1]?.text ?? '{}')
    else if (text.startsWith('-I')) marks.push(text.slice(2))
    else if (text.startsWith('--replace=')) marks.push(text.slice('--replace='.length))
  }
  return marks
}

function evaluated(words: readonly ShellWord[]): Unwrapped {
  const rest = words.slice(words[1]?.text === '--' ? 2 : 1)
  const unknown = rest.find(({ literal }) => !literal)
  return unknown === undefined
    ? { kind: 'script', text: rest.map(({ text }) => text).join(' ') }
    : opaque('eval', unknown)
}

/** `bash -c 'script'`; anything else a shell is given is a file or its input, which nobody has read. */
function shellScript(program: string, words: readonly ShellWord[]): Unwrapped {
  let fromArgument = false
  let index = 1
  for (let word = words[index]; word !== undefined; word = words[index]) {
    if (!word.literal) break
    const { text } = word
    if (text === '--' || text === '-') {
      index += 1
      break
    }
    if (/^--(?:norc|noprofile|login|posix|verbose|noediting|restricted)$/.test(text)) index += 1
    else if (/^[-+][a-zA-Z]+$/.test(text)) {
      fromArgument ||= text.startsWith('-') && text.includes('c')
      // Each `o` or `O` of a cluster takes a word of its own.
      index += 1 + (text.match(/[oO]/g)?.length ?? 0)
    } else if (/^[-+]/.test(text)) return opaque(program, word)
    else break
  }
  if (!fromArgument) return PLAIN
  const script = words[index]
  if (OTHER_SHELLS.has(program)) return { kind: 'opaque', reason: `a script of ${program} is not bash` }
  if (script?.literal !== true) return opaque(program, script ?? UNKNOWN_WORD)
  return { kind: 'script', text: script.text }
}

const opaque = (program: string, { text }: ShellWord): Unwrapped => ({
  kind: 'opaque',
  reason: `what ${program} runs depends on ${JSON.stringify(text)}`,
})
