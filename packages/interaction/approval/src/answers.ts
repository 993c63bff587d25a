// Whether an answer is one to the question that stands. Decides nothing and remembers nothing.
import { ApprovalError } from './errors.ts'
import { prefixesFor, type Grants } from './grants.ts'
import { prefixFault, uncovered, type Prefix } from './shell/prefix.ts'
import type { ApprovalAnswer, ApprovalGrant, PendingApproval } from './types.ts'

/** A detached copy of the answer. Throws `APPROVAL_INVALID`, with the reason. */
export function checkedAnswer(answer: ApprovalAnswer, question: PendingApproval, grants: Grants): ApprovalAnswer {
  if (answer?.kind === 'reject') {
    const { feedback } = answer
    if (feedback !== undefined && typeof feedback !== 'string') throw invalid('feedback must be text')
    return feedback === undefined || feedback.trim() === '' ? { kind: 'reject' } : { kind: 'reject', feedback }
  }
  if (answer?.kind === 'allow') return { kind: 'allow', grant: checkedGrant(answer.grant, question, grants) }
  throw invalid(`an answer is "allow" or "reject", not ${JSON.stringify(answer)}`)
}

function checkedGrant(grant: ApprovalGrant, question: PendingApproval, grants: Grants): ApprovalGrant {
  switch (grant?.kind) {
    case 'once':
    case 'session':
      return { kind: grant.kind }
    case 'prefix':
      return { kind: 'prefix', words: checkedPrefix(grant.words, question, grants) }
    default:
      throw invalid(`a grant is "once", "session" or "prefix", not ${JSON.stringify(grant)}`)
  }
}

function checkedPrefix(words: Prefix, question: PendingApproval, grants: Grants): Prefix {
  const { subject } = question
  if (subject.kind !== 'command') throw invalid('only a command can be allowed by a prefix')
  if (subject.dialect !== 'bash') {
    throw invalid(
      'PowerShell commands cannot be allowed by a prefix: nothing here reads them; allow this one or the session',
    )
  }
  const fault = prefixFault(words)
  if (fault !== undefined) throw invalid(`this prefix would allow too much: ${fault}`)
  const left = uncovered([...prefixesFor(grants(), question), words], subject.command)
  if (left === undefined) {
    throw invalid('this command cannot be allowed by a prefix: what it runs cannot be told from its text')
  }
  const [first] = left
  if (first !== undefined) {
    const command = first.words.map(({ text }) => text).join(' ')
    const writes = first.writes.length === 0 ? '' : `, which writes to ${first.writes.join(', ')}`
    throw invalid(`the prefix ${JSON.stringify(words.join(' '))} does not cover ${JSON.stringify(command)}${writes}`)
  }
  return [...words]
}

const invalid = (message: string): ApprovalError => new ApprovalError(message, 'APPROVAL_INVALID')
