import { describe, expect, it } from 'vitest'
import type { Approval, ApprovalGrant, ApprovalRequest, ApprovalWidening } from '@deepseek-ai/dsh-approval'
import type { ToolAgent } from '@deepseek-ai/dsh-tools'
import { bash, logged, nth, question, standing, startApproval } from './support.ts'

async function allow(approval: Approval, request: ApprovalRequest, grant: ApprovalGrant): Promise<unknown> {
  const outcome = approval.request(request)
  approval.answer((await standing(approval)).id, { kind: 'allow', grant })
  return outcome
}

/** True when a grant answered; otherwise the question is withdrawn. */
async function granted(approval: Approval, agent: ToolAgent, command: string, more: object = {}): Promise<boolean> {
  const controller = new AbortController()
  const outcome = approval.request(question(agent, bash(command), { signal: controller.signal, ...more }))
  const stop = approval.subscribe(() => controller.abort())
  try {
    return (await outcome).kind === 'allowed'
  } finally {
    stop()
  }
}

const prefix = (...words: string[]): ApprovalGrant => ({ kind: 'prefix', words })
const invalid = expect.objectContaining({ code: 'APPROVAL_INVALID' }) as Error

describe('a grant for the session', () => {
  it('answers later calls of the same tool, subject and widening, and of no others', async () => {
    const { approval, agent, session } = await startApproval()
    expect(await allow(approval, question(agent), { kind: 'session' })).toMatchObject({ by: 'person' })
    const [grant] = await approval.grants('s1')
    expect(await approval.request(question(agent, bash('anything at all')))).toEqual({
      kind: 'allowed',
      by: 'grant',
      grant: { kind: 'session' },
      grantId: grant?.id,
    })
    const widening: ApprovalWidening = { files: { from: 'workspace-write', to: 'danger-full-access' } }
    expect(await granted(approval, agent, 'ls', { toolName: 'pwsh' })).toBe(false)
    expect(await granted(approval, agent, 'ls', { widening })).toBe(false)
    expect(await granted(approval, agent, 'ls', { subject: { kind: 'arguments', arguments: {} } })).toBe(false)
    expect((await logged(session)).map(({ type }) => type).slice(0, 4)).toEqual([
      'approval/asked',
      'approval/granted',
      'approval/decided',
      'approval/decided',
    ])
  })

  it('holds in its own session only', async () => {
    const { ctx, approval, agent, dir } = await startApproval()
    await allow(approval, question(agent), { kind: 'session' })
    const other = await ctx.sessions.create({ id: 's2', cwd: dir })
    expect(await approval.grants('s2')).toEqual([])
    expect(await granted(approval, { ...agent, id: other.id }, 'ls')).toBe(false)
  })

  it('survives a resume in another process, until it is revoked', async () => {
    const { approval, agent, dir, dispose } = await startApproval()
    await allow(approval, question(agent), { kind: 'session' })
    await dispose()
    const second = await startApproval({}, { dir, reachable: false })
    expect(await second.approval.request(question(second.agent))).toMatchObject({ kind: 'allowed', by: 'grant' })
    const grant = nth(await second.approval.grants('s1'), 0)
    await second.approval.revoke('s1', grant.id)
    expect(await second.approval.request(question(second.agent))).toEqual({ kind: 'unavailable' })
    await second.dispose()
    const third = await startApproval({}, { dir, reachable: false })
    expect(await third.approval.grants('s1')).toEqual([])
    expect((await logged(third.session)).some(({ type }) => type === 'approval/revoked')).toBe(true)
  })

  it('is kept in memory where there is no session', async () => {
    const { approval } = await startApproval()
    const outcome = approval.request(question(undefined))
    approval.answer((await standing(approval, '')).id, { kind: 'allow', grant: { kind: 'session' } })
    expect(await outcome).toMatchObject({ by: 'person' })
    expect(await approval.request(question(undefined))).toMatchObject({ by: 'grant' })
    const grant = nth(await approval.grants(''), 0)
    await approval.revoke('', grant.id)
    expect(await approval.grants('')).toEqual([])
  })

  it('cannot be revoked twice', async () => {
    const { approval } = await startApproval()
    await expect(approval.revoke('s1', 'none')).rejects.toMatchObject({ code: 'APPROVAL_NOT_FOUND' })
  })

  it('still answers under a policy of never: nobody is asked', async () => {
    const { approval, agent, dir, dispose } = await startApproval()
    await allow(approval, question(agent), { kind: 'session' })
    await dispose()
    const never = await startApproval({ policy: 'never' }, { dir })
    expect(await never.approval.request(question(never.agent))).toMatchObject({ kind: 'allowed', by: 'grant' })
  })
})

describe('a grant for a prefix', () => {
  it('answers every command line whose simple commands begin with it', async () => {
    const { approval, agent } = await startApproval()
    await allow(approval, question(agent, bash('npm test')), prefix('npm', 'test'))
    for (const command of [
      'npm test',
      'npm test -- --watch',
      'CI=1 npm test && npm test | npm test',
      'timeout 60 npm test',
    ]) {
      expect(await granted(approval, agent, command), command).toBe(true)
    }
    for (const command of ['npm install', 'npm test; rm x', 'npm test $(rm x)', 'npm testx', 'npm test > out', 'npm']) {
      expect(await granted(approval, agent, command), command).toBe(false)
    }
  })

  it('joins with others, each simple command under one of them', async () => {
    const { approval, agent } = await startApproval()
    await allow(approval, question(agent, bash('npm test')), prefix('npm', 'test'))
    const outcome = approval.request(question(agent, bash('cd web && npm test')))
    const pending = await standing(approval)
    expect(pending.suggestedPrefix).toEqual(['cd', 'web'])
    approval.answer(pending.id, { kind: 'allow', grant: prefix('cd', 'web') })
    await outcome
    expect(await granted(approval, agent, 'cd web && npm test')).toBe(true)
    expect(await granted(approval, agent, 'cd / && npm test')).toBe(false)
  })

  it.each<[string, string[], string]>([
    ['git push origin', ['git', 'pull'], 'does not cover "git push origin"'],
    ['git status && rm x', ['git', 'status'], 'does not cover "rm x"'],
    ['git status > x', ['git', 'status'], 'which writes to x'],
    ['$(cat x)', ['cat'], 'what it runs cannot be told'],
    ['git status', [], 'at least the name of a program'],
    ['git status', ['git'], 'leaves open what git does'],
    ['bash x.sh', ['bash'], 'bash runs whatever it is given'],
    ['sudo ls', ['sudo'], 'sudo runs whatever it is given'],
    ['git -c a=b log', ['git', '-c'], 'with -c'],
  ])('is refused for %s by %j', async (command, words, message) => {
    const { approval, agent } = await startApproval()
    void approval.request(question(agent, bash(command)))
    const { id } = await standing(approval)
    const answer = (): void => approval.answer(id, { kind: 'allow', grant: { kind: 'prefix', words } })
    expect(answer).toThrow(invalid)
    expect(answer).toThrow(message)
    expect(await approval.grants('s1')).toEqual([])
  })

  it('is neither suggested nor taken for PowerShell or for arguments, and says why', async () => {
    const { approval, agent } = await startApproval()
    const subjects = [
      { ...bash('Get-ChildItem'), dialect: 'pwsh' },
      { kind: 'arguments', arguments: {} },
    ] as const
    for (const subject of subjects) {
      const controller = new AbortController()
      const outcome = approval.request(question(agent, subject, { signal: controller.signal }))
      const pending = await standing(approval)
      expect(pending.suggestedPrefix).toBeUndefined()
      expect(() => approval.answer(pending.id, { kind: 'allow', grant: prefix('Get-ChildItem') })).toThrow(invalid)
      controller.abort()
      await outcome
    }
  })

  it('does not answer a PowerShell command of the same words', async () => {
    const { approval, agent } = await startApproval()
    await allow(approval, question(agent, bash('ls')), prefix('ls'))
    expect(await granted(approval, agent, '', { subject: { ...bash('ls'), dialect: 'pwsh' } })).toBe(false)
  })
})
