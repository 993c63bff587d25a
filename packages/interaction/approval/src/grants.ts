// What was granted and still holds: folded from the session's log, so that it survives a resume; kept in memory where there is no session.
import { isDeepStrictEqual } from 'node:util'
import { followSession, type Session, type SessionEvent } from '@deepseek-ai/dsh-session'
import { coversLine, uncovered, type Prefix } from './shell/prefix.ts'
import type { ApprovalRequest, StandingGrant } from './types.ts'

/** Where questions and grants belong. `session` is undefined when there is no log to keep them in. */
export interface Place {
  readonly sessionId: string
  readonly session: Session | undefined
}

type Asked = Pick<ApprovalRequest, 'toolName' | 'subject' | 'widening'>
export type Grants = () => readonly StandingGrant[]

export class GrantBook {
  private readonly folds = new WeakMap<Session, Promise<Grants>>()
  private readonly memory = new Map<string, readonly StandingGrant[]>()

  /** Rejects when the log cannot be read; the next call tries again. */
  of({ sessionId, session }: Place): Promise<Grants> {
    if (session === undefined) return Promise.resolve(() => this.memory.get(sessionId) ?? [])
    let fold = this.folds.get(session)
    if (fold === undefined) {
      fold = followSession(session, [], grantsAfter)
      this.folds.set(session, fold)
      fold.catch(() => this.folds.delete(session))
    }
    return fold
  }

  add({ sessionId, session }: Place, grant: StandingGrant): void {
    if (session !== undefined) session.append('approval/granted', grant)
    else this.memory.set(sessionId, [...(this.memory.get(sessionId) ?? []), grant])
  }

  remove({ sessionId, session }: Place, id: string): void {
    if (session !== undefined) session.append('approval/revoked', { id })
    else {
      const left = (this.memory.get(sessionId) ?? []).filter((grant) => grant.id !== id)
      this.memory.set(sessionId, left)
    }
  }
}

function grantsAfter(grants: readonly StandingGrant[], { type, data }: SessionEvent): readonly StandingGrant[] {
  if (type === 'approval/granted') return [...grants, data]
  if (type === 'approval/revoked') return grants.filter(({ id }) => id !== data.id)
  return grants
}

/** The grant that answers without asking, if any. A command may be covered by several; then it is one of them. */
export function answeringGrant(grants: readonly StandingGrant[], asked: Asked): StandingGrant | undefined {
  const { subject } = asked
  const related = grants.filter((grant) => concerns(grant, asked))
  const whole = related.find(({ grant }) => grant.kind === 'session')
  if (whole !== undefined || subject.kind !== 'command' || subject.dialect !== 'bash') return whole
  const rules = related.flatMap((standing) =>
    standing.grant.kind === 'prefix' ? [{ standing, words: standing.grant.words }] : [],
  )
  if (rules.length === 0) return undefined
  const all = rules.map(({ words }) => words)
  if (!coversLine(all, subject.command)) return undefined
  const total = uncovered([], subject.command)?.length ?? 0
  const left = (words: Prefix): number => uncovered([words], subject.command)?.length ?? total
  return rules.reduce((best, rule) => (left(rule.words) < left(best.words) ? rule : best)).standing
}

/** The prefixes that may help to cover this command. */
export function prefixesFor(grants: readonly StandingGrant[], asked: Asked): Prefix[] {
  return grants.flatMap((standing) =>
    concerns(standing, asked) && standing.grant.kind === 'prefix' ? [standing.grant.words] : [],
  )
}

function concerns(grant: StandingGrant, { toolName, subject, widening }: Asked): boolean {
  return (
    grant.toolName === toolName && grant.subjectKind === subject.kind && isDeepStrictEqual(grant.widening, widening)
  )
}
