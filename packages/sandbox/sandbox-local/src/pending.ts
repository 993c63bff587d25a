// Small forms of two things that grow in files of their own: which refusals the policy made, and what a command left for git to run.
import { accessSync, constants, existsSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import {
  scanRepositories,
  type ConfinedOutcome,
  type Repository,
  type SandboxAccess,
  type SandboxDenial,
  type SandboxPolicy,
  type SandboxVerdict,
} from '@deepseek-ai/dsh-sandbox'

export interface DenialInput {
  readonly outcome: ConfinedOutcome
  readonly policy: SandboxPolicy
  readonly workdir: string
  readonly judge: (path: string, access: SandboxAccess, policy: SandboxPolicy) => SandboxVerdict
}

const MARKER =
  /Read-only file system|Permission denied|Operation not permitted|Device or resource busy|EROFS|EACCES|EBUSY/
const QUOTED = /['"‘`]([^'"’`]+)['"’`]/g

/** A text only nominates a path: it counts when the policy refuses it and the plain user could have. */
export function confirmDenials({ outcome, policy, workdir, judge }: DenialInput): SandboxDenial[] {
  const found = new Map<string, SandboxDenial>()
  for (const line of outcome.stderrTail.split('\n').filter((each) => MARKER.test(each))) {
    for (const named of candidates(line)) {
      const target = isAbsolute(named) ? named : resolve(workdir, named)
      for (const kind of ['write', 'read'] as const) {
        const verdict = judge(target, kind, policy)
        if (verdict.allowed || !userMay(target, kind)) continue
        // What may not be read is refused for writing by the same rule: the narrower fact is told.
        const told = verdict.rule === 'denied-read' ? 'read' : kind
        found.set(target, { kind: told, target, rule: verdict.rule, confidence: 'confirmed' })
        break
      }
    }
  }
  return [...found.values()].slice(0, 20)
}

/** What stands in quotes, else what stands before the reason: the first part names the program. */
function candidates(line: string): string[] {
  const quoted = [...line.matchAll(QUOTED)].map(([, path]) => path as string)
  if (quoted.length > 0) return quoted
  const parts = line.split(': ').map((part) => part.trim())
  const reason = parts.findIndex((part) => MARKER.test(part))
  const before = reason > 1 ? (parts[reason - 1] as string) : ''
  return [...new Set([before, before.split(/\s/).pop() as string])].filter((part) => part !== '')
}

function userMay(path: string, kind: SandboxAccess): boolean {
  try {
    const target = existsSync(path) ? path : dirname(path)
    accessSync(target, kind === 'read' ? constants.R_OK : constants.W_OK)
    return true
  } catch {
    return false
  }
}

/** Looks for what git would run or believe, and was not there before. */
export class RepositoryAudit {
  private readonly roots: readonly string[]
  private known = new Set<string>()

  constructor(roots: readonly string[]) {
    this.roots = roots
  }

  async before(): Promise<void> {
    this.known = new Set(this.traces())
  }

  /** One sentence each. */
  async after(): Promise<string[]> {
    return this.traces()
      .filter((trace) => !this.known.has(trace))
      .map(
        (trace) => `the command made ${trace}, which git may run or believe outside of the sandbox: look at it first`,
      )
  }

  private traces(): string[] {
    return this.roots.flatMap((root) => scanRepositories(root).repositories.flatMap(tracesOf))
  }
}

function tracesOf({ workTree, gitDir, commonDir, linked }: Repository): string[] {
  const file = linked ? [`${join(workTree, '.git')} (${textOf(join(workTree, '.git'))})`] : []
  const common = join(gitDir, 'commondir')
  return [...file, ...(existsSync(common) ? [common] : []), ...hooksIn(commonDir)]
}

function hooksIn(gitDir: string): string[] {
  try {
    const hooks = join(gitDir, 'hooks')
    const names = readdirSync(hooks).filter((name) => !name.endsWith('.sample'))
    return names.map((name) => join(hooks, name)).filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile())
  } catch {
    return [] // no hooks
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch {
    return ''
  }
}
