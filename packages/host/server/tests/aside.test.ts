// What stands beside a conversation, over the real server: who is asked, what is answered, what a host without the services says.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Approval, type ApprovalOutcome } from '@deepseek-ai/dsh-approval'
import { SandboxPolicyService } from '@deepseek-ai/dsh-sandbox'
import { UserQuestions, type QuestionOutcome } from '@deepseek-ai/dsh-user-questions'
import { Spill } from '@deepseek-ai/dsh-spill'
import { FsLocal } from '../../../fs/fs-local/src/index.ts'
import { startHost, tempFolder, type TestHost } from './host.ts'

let dir: Awaited<ReturnType<typeof tempFolder>>
let host: TestHost

beforeEach(async () => {
  dir = await tempFolder()
  host = await startHost(dir.path)
})
afterEach(async () => {
  await host.dispose()
  await dir.remove()
})

const never = new AbortController().signal

function askToRun(id: string, command: string, signal = never): Promise<ApprovalOutcome> {
  return host.ctx.approval.request({
    agent: host.ctx.agents.get(id),
    toolName: 'bash',
    callId: 'call-1',
    subject: { kind: 'command', command, dialect: 'bash', workdir: dir.path },
    reason: 'To see',
    signal,
  })
}

function askForText(id: string, secret: boolean): Promise<QuestionOutcome> {
  const origin = { kind: 'terminal', terminalId: 'pty-1' } as const
  return host.ctx.userQuestions.ask({
    agent: host.ctx.agents.get(id),
    origin,
    question: 'Password:',
    secret,
    signal: never,
  })
}

describe('approvals', () => {
  beforeEach(() => host.ctx.plugin(Approval))

  it('stand for a session that a person has made, though no page follows it yet, and are answered by a method', async () => {
    const { id } = await host.value('sessions.create', {})
    const outcome = askToRun(id, 'git push origin main')
    await expect.poll(() => host.ctx.approval.pending(id)).toHaveLength(1)
    const [pending] = host.ctx.approval.pending(id)
    expect(pending?.suggestedPrefix).toEqual(['git', 'push'])
    const grant = { kind: 'prefix', words: ['git', 'push'] } as const
    const approvalId = pending?.id ?? ''
    await host.value('approvals.answer', { id, approvalId, answer: { kind: 'allow', grant } })
    expect(await outcome).toMatchObject({ kind: 'allowed', by: 'person', grant })

    expect(await askToRun(id, 'git push --tags')).toMatchObject({ kind: 'allowed', by: 'grant' })
    const [standing] = await host.ctx.approval.grants(id)
    await host.value('approvals.revoke', { id, grantId: standing?.id ?? '' })
    expect(await host.ctx.approval.grants(id)).toEqual([])
  })

  it('stand for a session that a person opens again', async () => {
    const { id } = await host.value('sessions.create', {})
    await host.ctx.agents.get(id)?.dispose()
    await host.dispose()
    host = await startHost(dir.path)
    await host.ctx.plugin(Approval)
    await host.value('sessions.open', { id })
    const outcome = askToRun(id, 'id')
    await expect.poll(() => host.ctx.approval.pending(id)).toHaveLength(1)
    const approvalId = host.ctx.approval.pending(id).at(0)?.id ?? ''
    await host.value('approvals.answer', { id, approvalId, answer: { kind: 'reject', feedback: 'Not now' } })
    expect(await outcome).toEqual({ kind: 'rejected', feedback: 'Not now' })
  })

  it('are unavailable at once in a session that no person has come to', async () => {
    const { id } = await host.ctx.agents.create({ cwd: dir.path })
    expect(await askToRun(id, 'id')).toEqual({ kind: 'unavailable' })
  })

  it('cannot be answered from another session, nor twice', async () => {
    const { id } = await host.value('sessions.create', {})
    const other = await host.value('sessions.create', {})
    const outcome = askToRun(id, 'id')
    await expect.poll(() => host.ctx.approval.pending(id)).toHaveLength(1)
    const approvalId = host.ctx.approval.pending(id).at(0)?.id ?? ''
    const allow = { approvalId, answer: { kind: 'allow', grant: { kind: 'once' } } } as const
    const refused = { ok: false, error: { code: 'APPROVAL_NOT_FOUND' } }
    expect(await host.call('approvals.answer', { id: other.id, ...allow })).toMatchObject(refused)
    await host.value('approvals.answer', { id, ...allow })
    expect(await host.call('approvals.answer', { id, ...allow })).toMatchObject(refused)
    expect(await outcome).toMatchObject({ kind: 'allowed', by: 'person' })
  })
})

describe('questions', () => {
  beforeEach(() => host.ctx.plugin(UserQuestions))

  it('hand a secret answer to who asked, and leave it in no log', async () => {
    const { id } = await host.value('sessions.create', {})
    const outcome = askForText(id, true)
    await expect.poll(() => host.ctx.userQuestions.pending(id)).toHaveLength(1)
    const questionId = host.ctx.userQuestions.pending(id).at(0)?.id ?? ''
    await host.value('questions.answer', { id, questionId, text: 'hunter2' })
    expect(await outcome).toEqual({ kind: 'answered', text: 'hunter2', secret: true })
    await host.ctx.sessions.get(id)?.flush()
    const log = await readFile(join(dir.path, 'sessions', `${id}.jsonl`), 'utf8')
    expect(log).toContain('question/settled')
    expect(log + host.log.join('\n')).not.toContain('hunter2')
  })

  it('can be dismissed', async () => {
    const { id } = await host.value('sessions.create', {})
    const outcome = askForText(id, false)
    await expect.poll(() => host.ctx.userQuestions.pending(id)).toHaveLength(1)
    await host.value('questions.dismiss', { id, questionId: host.ctx.userQuestions.pending(id).at(0)?.id ?? '' })
    expect(await outcome).toEqual({ kind: 'dismissed' })
  })
})

describe('the permission of a session', () => {
  it('is set for that session alone, and a mode that there is not is refused', async () => {
    await host.ctx.plugin(SandboxPolicyService)
    const { id } = await host.value('sessions.create', {})
    const other = await host.value('sessions.create', {})
    await host.value('permission.set', { id, mode: 'read-only' })
    const modeOf = async (session: string): Promise<unknown> => {
      const found = host.ctx.sessions.get(session)
      return found && host.ctx.sandboxPolicy.modeOf(found)
    }
    expect(await modeOf(id)).toBe('read-only')
    expect(await modeOf(other.id)).toBe('workspace-write')
    const wrong = await host.call('permission.set', { id, mode: 'all' as 'read-only' })
    expect(wrong).toMatchObject({ ok: false, error: { message: expect.stringMatching(/read-only/) } })
    expect(await modeOf(id)).toBe('read-only')
  })
})

describe('files for the page', () => {
  it('are read under the policy of the session, and kept files only when they are kept for it', async () => {
    const secret = join(dir.path, 'secret')
    await writeFile(secret, 'hunter2\n')
    await writeFile(join(dir.path, 'open'), 'one\ntwo\n')
    await host.ctx.plugin(SandboxPolicyService, { deniedReads: [secret] })
    await host.ctx.plugin(FsLocal)
    await host.ctx.plugin(Spill, { dir: join(dir.path, 'spill') })
    const { id } = await host.value('sessions.create', {})
    const read = await host.value('files.lines', { id, path: 'open', offset: 2 })
    expect(read).toMatchObject({ lines: [{ number: 2, text: 'two' }], totalLines: 2 })
    const refused = await host.call('files.lines', { id, path: 'secret' })
    expect(refused).toMatchObject({ ok: false, error: { code: 'FS_SANDBOX_DENIED' } })
    const other = await host.call('spill.read', { id, path: secret })
    expect(other).toMatchObject({ ok: false, error: { code: 'NOT_FOUND' } })
    expect(JSON.stringify([refused, other])).not.toContain('hunter2')
  })
})

describe('a host without the services', () => {
  it.each([
    ['approvals.answer', { approvalId: 'x', answer: { kind: 'reject' } }, 'approval'],
    ['questions.dismiss', { questionId: 'x' }, 'userQuestions'],
    ['jobs.output', { jobId: 'x' }, 'jobs'],
    ['permission.set', { mode: 'read-only' }, 'sandboxPolicy'],
    ['terminals.open', {}, 'terminals'],
    ['files.lines', { path: 'x' }, 'fs'],
    ['spill.read', { path: '/x' }, 'spill'],
  ] as const)('says to %s which plugin is missing', async (method, params, service) => {
    const { id } = await host.value('sessions.create', {})
    const answer = await host.call(method, { id, ...params })
    const message = `this host has no "${service}": add the plugin that provides it`
    expect(answer).toMatchObject({ ok: false, error: { code: 'NOT_AVAILABLE', message } })
  })
})
