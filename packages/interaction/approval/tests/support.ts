// A host with sessions in a temporary folder, approvals, and a person who can be reached or not.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHost, createScope, disposeAndJoin, type Context, type Scope } from '@deepseek-ai/cordis'
import { Sessions, type Session, type SessionEvent } from '@deepseek-ai/dsh-session'
import type { ToolAgent } from '@deepseek-ai/dsh-tools'
import { onTestFinished } from 'vitest'
import {
  Approval,
  type ApprovalConfig,
  type ApprovalRequest,
  type ApprovalSubject,
  type PendingApproval,
} from '@deepseek-ai/dsh-approval'

export interface Fixture {
  readonly ctx: Context
  readonly approval: Approval
  readonly session: Session
  readonly agent: ToolAgent
  readonly dir: string
  readonly log: string[]
  /** Ends the plugin alone. */
  readonly stop: () => Promise<void>
  readonly dispose: () => Promise<void>
}

export function temporaryFolder(): string {
  const dir = mkdtempSync(join(tmpdir(), 'dsh-approval-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

/** `reachable: false`: nobody has registered who could answer. */
export async function startApproval(
  config: Partial<ApprovalConfig> = {},
  { dir = temporaryFolder(), reachable = true, sessionId = 's1' } = {},
): Promise<Fixture> {
  const log: string[] = []
  const host = createHost({ write: (line) => log.push(line) })
  onTestFinished(() => host.dispose())
  await host.ctx.plugin(Sessions, { dir, fsync: 'never' })
  const plugin = await host.ctx.plugin(Approval, config)
  const { sessions, approval } = host.ctx
  const session = await sessions.open(sessionId).catch(() => sessions.create({ id: sessionId, cwd: dir }))
  if (reachable) approval.registerAnswerer({ canAnswer: () => true })
  return {
    ctx: host.ctx,
    approval,
    session,
    agent: agentOf(session),
    dir,
    log,
    stop: () => disposeAndJoin(plugin),
    dispose: () => host.dispose(),
  }
}

export const agentOf = (session: Session): ToolAgent => ({ id: session.id, cwd: session.cwd, inject() {} })

export const bash = (command: string): ApprovalSubject => ({ kind: 'command', command, dialect: 'bash', workdir: '/w' })

export function question(
  agent: ToolAgent | undefined,
  subject: ApprovalSubject = bash('npm test'),
  more: Partial<ApprovalRequest> = {},
): ApprovalRequest {
  const rest = { toolName: 'bash', callId: 'c1', reason: 'policy asks', signal: new AbortController().signal }
  return { agent, subject, ...rest, ...more }
}

/** The question that is up, once it is; fails the test when it is not after a turn of the event loop. */
export async function standing(approval: Approval, sessionId = 's1', count = 1): Promise<PendingApproval> {
  if (approval.pending(sessionId).length < count) {
    await new Promise<void>((resolve) => {
      const stop = approval.subscribe((id) => {
        if (id !== sessionId || approval.pending(sessionId).length < count) return
        stop()
        resolve()
      })
    })
  }
  return nth(approval.pending(sessionId), -1)
}

/** What the log holds of approvals. */
export async function logged(session: Session): Promise<SessionEvent[]> {
  await session.flush()
  return (await session.read({ from: 0 })).filter(({ type }) => type.startsWith('approval/'))
}

export const fileOf = (dir: string, id: string): string => readFileSync(join(dir, `${id}.jsonl`), 'utf8')

export function scopeFor(ctx: Context, agent: ToolAgent): Scope {
  return createScope(ctx, agent)
}

/** Fails the test when there is none. */
export function nth<T>(list: readonly T[], index: number): T {
  const found = list.at(index)
  if (found === undefined) throw new Error(`expected an entry ${index} of ${list.length}`)
  return found
}
