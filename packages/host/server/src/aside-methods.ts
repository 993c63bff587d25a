// The methods on what stands beside a conversation: answers, jobs, permission, terminals, spilled files. Parameters arrive checked.
import { HarnessError } from '@deepseek-ai/cordis'
import type { Agent } from '@deepseek-ai/dsh-agent'
import type { Aside } from './aside.ts'
import type { Methods } from './protocol.ts'
import { readSpill } from './spill-file.ts'

/** Of one answer, in UTF-8 bytes. */
const MOST_FILE_BYTES = 512 * 1024

type AsideMethod = Extract<
  keyof Methods,
  | `approvals.${string}`
  | `questions.${string}`
  | `jobs.${string}`
  | `permission.${string}`
  | `terminals.${string}`
  | `files.${string}`
  | `spill.${string}`
>

export type AsideMethodTable = {
  readonly [M in AsideMethod]: (params: Methods[M]['params']) => Promise<Methods[M]['value']>
}

/** `agentOf` gives a session's agent, started when none is live. */
export function createAsideMethods(aside: Aside, agentOf: (id: string) => Promise<Agent>): AsideMethodTable {
  /** A question is answered only in its own session: ids of others are as good as unknown. */
  const standing = (rows: readonly { readonly id: string }[], id: string, code: string): void => {
    if (!rows.some((row) => row.id === id)) throw new HarnessError('this question does not stand any more', code)
  }
  const terminal = async (id: string, terminalId: string) => aside.need('terminals').get(await agentOf(id), terminalId)

  return {
    'approvals.answer': async ({ id, approvalId, answer }) => {
      const approval = aside.need('approval')
      standing(approval.pending(id), approvalId, 'APPROVAL_NOT_FOUND')
      approval.answer(approvalId, answer)
      return null
    },
    'approvals.revoke': async ({ id, grantId }) => {
      await agentOf(id)
      await aside.need('approval').revoke(id, grantId)
      return null
    },
    'questions.answer': async ({ id, questionId, text, secret = false }) => {
      const questions = aside.need('userQuestions')
      standing(questions.pending(id), questionId, 'QUESTION_NOT_FOUND')
      questions.answer(questionId, { text, secret })
      return null
    },
    'questions.dismiss': async ({ id, questionId }) => {
      const questions = aside.need('userQuestions')
      standing(questions.pending(id), questionId, 'QUESTION_NOT_FOUND')
      questions.dismiss(questionId)
      return null
    },
    'jobs.output': async ({ id, jobId }) => ({ text: aside.need('jobs').peek(await agentOf(id), jobId) }),
    'jobs.kill': async ({ id, jobId }) => {
      return { stopped: aside.need('jobs').kill(await agentOf(id), jobId, 'stopped by the user', 'person') }
    },
    'jobs.promote': async ({ id, callId }) => ({ jobId: aside.need('jobs').promote(await agentOf(id), callId) }),
    'permission.set': async ({ id, mode }) => {
      const { session } = await agentOf(id)
      await aside.need('sandboxPolicy').setMode(session, mode, 'user')
      aside.touch(id)
      return null
    },
    'terminals.open': async ({ id, cols, rows }) => {
      const size = { ...(cols === undefined ? {} : { cols }), ...(rows === undefined ? {} : { rows }) }
      return (await aside.need('terminals').open({ owner: await agentOf(id), ...size })).row
    },
    'terminals.input': async ({ id, terminalId, data }) => {
      ;(await terminal(id, terminalId)).write(data)
      return null
    },
    'terminals.resize': async ({ id, terminalId, cols, rows }) => {
      ;(await terminal(id, terminalId)).resize(cols, rows)
      return null
    },
    'terminals.signal': async ({ id, terminalId, signal }) => {
      ;(await terminal(id, terminalId)).signal(signal)
      return null
    },
    'terminals.close': async ({ id, terminalId }) => {
      await aside.need('terminals').close(await agentOf(id), terminalId)
      return null
    },
    'files.lines': async ({ id, path, offset = 1, count = 2000 }) => {
      const fs = aside.need('fs')
      const { cwd, session } = await agentOf(id)
      const policy = await aside.services.sandboxPolicy?.resolve({ session })
      const target = await fs.resolve(path, { cwd })
      const range = { offset, count, maxBytes: MOST_FILE_BYTES }
      const { lines, totalLines, complete } = await fs.readLines(target, range, policy === undefined ? {} : { policy })
      return { path: target.path, lines, totalLines, complete }
    },
    'spill.read': async ({ id, path, from = 0, bytes }) => {
      // Only what is kept for this session: the page is no way to read any file of the machine.
      const kept = await aside.need('spill').list(id)
      if (!kept.some((file) => file.path === path)) {
        throw new HarnessError(`${path} is not kept for this session (any more)`, 'NOT_FOUND')
      }
      return readSpill(path, from, bytes)
    },
  }
}
