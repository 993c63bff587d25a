// What the rules of a permission gate say about one call: the strictest of those that concern it.
import { commandsOf, coversLine, prefixFault } from '@deepseek-ai/dsh-approval'
import type { Json, PreDecision } from '@deepseek-ai/dsh-tools'

export interface Rule {
  /** Names of tools; `*` at the end stands for any rest. */
  tools: string[]
  /**
   * Beginnings of bash commands, e.g. `git push`. `deny` and `ask` concern a line that has such a command anywhere in it, `allow` one that has nothing
   * else. Omitted: every call of these tools.
   */
  commands?: string[]
  decision: 'allow' | 'ask' | 'deny'
  /** Told to the model and the person. */
  reason?: string
}

export interface GateConfig {
  rules: Rule[]
  /** For calls that no rule concerns. Default `allow`. */
  otherwise: 'allow' | 'ask' | 'deny'
}

type Verdict = Pick<Rule, 'decision' | 'reason'>

const STRICTNESS = { allow: 0, ask: 1, deny: 2 } as const

export function decide({ rules, otherwise }: GateConfig, tool: string, args: Json): PreDecision {
  const verdicts = rules
    .filter(({ tools }) => tools.some((pattern) => matches(pattern, tool)))
    .map((rule) => verdict(rule, commandOf(args)))
    .filter((each) => each !== undefined)
  const strictest = verdicts.reduce<Verdict | undefined>(
    (worst, each) => (worst === undefined || STRICTNESS[each.decision] > STRICTNESS[worst.decision] ? each : worst),
    undefined,
  )
  const { decision, reason } = strictest ?? { decision: otherwise }
  if (decision === 'allow') return { kind: 'allow' }
  if (decision === 'deny') return { kind: 'deny', reason: reason ?? `a rule of the permission gate denies ${tool}` }
  return reason === undefined ? { kind: 'ask' } : { kind: 'ask', reason }
}

/** The stricter of two decisions; the first when they are as strict. */
export function stricter(ours: PreDecision, theirs: PreDecision): PreDecision {
  return STRICTNESS[theirs.kind] > STRICTNESS[ours.kind] ? theirs : ours
}

function verdict({ commands, decision, reason }: Rule, command: string | undefined): Verdict | undefined {
  const said: Verdict = reason === undefined ? { decision } : { decision, reason }
  if (commands === undefined) return said
  if (command === undefined) return undefined
  const prefixes = commands.map(wordsOf)
  if (decision === 'allow') return coversLine(prefixes, command) ? said : undefined
  const read = commandsOf(command)
  // What cannot be read may be what the rule is about.
  if ('unparsable' in read) return { decision: 'ask', reason: `it cannot be told what this runs: ${read.unparsable}` }
  return read.commands.some((words) => prefixes.some((prefix) => begins(prefix, words))) ? said : undefined
}

/** With other rights, by its path or with options in front of its subcommand, it still is the same command. */
function begins(prefix: readonly string[], words: readonly string[]): boolean {
  const [program = '', ...args] = words[0] === 'sudo' || words[0] === 'doas' ? words.slice(1) : words
  const named = [program.replace(/^.*\//, ''), ...args]
  const first = args.findIndex((word, index) => !word.startsWith('-') && !/^-[cC]$/.test(args[index - 1] ?? ''))
  const bare = first < 0 ? named : [named[0], ...args.slice(first)]
  return [named, bare].some((each) => prefix.every((word, index) => each[index] === word))
}

function matches(pattern: string, tool: string): boolean {
  return pattern.endsWith('*') ? tool.startsWith(pattern.slice(0, -1)) : pattern === tool
}

function commandOf(args: Json): string | undefined {
  const { command } = (args ?? {}) as { readonly command?: unknown }
  return typeof command === 'string' ? command : undefined
}

const wordsOf = (command: string): string[] => command.trim().split(/\s+/)

/** What a list of rules should have been, or undefined when it is one. */
export function rulesFault(value: unknown): string | undefined {
  if (!Array.isArray(value)) return 'a list of rules'
  for (const [index, rule] of value.entries()) {
    const fault = ruleFault(rule as Partial<Record<keyof Rule, unknown>> | null)
    if (fault !== undefined) return `${fault} in rule ${index + 1}`
  }
  return undefined
}

function ruleFault(rule: Partial<Record<keyof Rule, unknown>> | null): string | undefined {
  const { tools, commands, decision, reason, ...rest } = rule ?? {}
  if (!isNames(tools)) return 'tools as a list of names'
  if (decision !== 'allow' && decision !== 'ask' && decision !== 'deny') return 'a decision of allow, ask or deny'
  if (commands !== undefined && !isNames(commands)) return 'commands as a list of beginnings'
  if (reason !== undefined && typeof reason !== 'string') return 'a reason of text'
  const [unknown] = Object.keys(rest)
  if (unknown !== undefined) return `tools, commands, decision and reason (not ${unknown})`
  if (decision !== 'allow') return undefined
  for (const command of commands ?? []) {
    const fault = prefixFault(wordsOf(command))
    if (fault !== undefined) return `a narrower command than "${command}" to allow (${fault})`
  }
  return undefined
}

const isNames = (value: unknown): value is string[] =>
  Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === 'string' && each.trim() !== '')
