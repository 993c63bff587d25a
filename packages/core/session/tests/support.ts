// A host with sessions in a temporary folder, and events in the shape that an agent writes.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHost, type Host } from '@deepseek-ai/cordis'
import { onTestFinished } from 'vitest'
import { Sessions, type Session, type SessionsConfig } from '@deepseek-ai/dsh-session'

export interface Fixture {
  readonly dir: string
  readonly host: Host
  readonly sessions: Sessions
  readonly log: string[]
}

export function temporaryFolder(): string {
  const dir = mkdtempSync(join(tmpdir(), 'dsh-session-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

export async function startSessions(dir: string, config: Partial<SessionsConfig> = {}): Promise<Fixture> {
  const log: string[] = []
  const host = createHost({ write: (line) => log.push(line) })
  onTestFinished(() => host.dispose())
  await host.ctx.plugin(Sessions, { dir, fsync: 'never', ...config })
  return { dir, host, sessions: host.ctx.sessions, log }
}

export const fixture = (config?: Partial<SessionsConfig>): Promise<Fixture> => startSessions(temporaryFolder(), config)

export function userMessage(session: Session, text: string, turn = 1, id = `m${session.lastSeq}`): void {
  session.append('user/message', { turn, message: { id, content: [{ type: 'text', text }], source: { kind: 'user' } } })
}

export function calls(session: Session, callIds: readonly string[], turn = 1, step = 1): void {
  session.append('assistant/message', {
    turn,
    step,
    content: callIds.map((id) => ({ type: 'tool-call', id, name: 'greet', arguments: '{}' })),
    model: { provider: 'p', model: 'm' },
    durationMs: 5,
  })
}

export function call(session: Session, callId: string, turn = 1, step = 1): number {
  return session.append('tool/call', { turn, step, callId, name: 'greet', arguments: '{}' }).seq
}

export function result(session: Session, callId: string, text: string, callSeq?: number, turn = 1, step = 1): void {
  session.append('tool/result', {
    turn,
    step,
    callId,
    ...(callSeq === undefined ? {} : { callSeq }),
    content: [{ type: 'text', text }],
    isError: false,
    durationMs: 1,
  })
}

export function say(session: Session, text: string, turn = 1, step = 1): void {
  session.append('assistant/message', {
    turn,
    step,
    content: [{ type: 'text', text }],
    model: { provider: 'p', model: 'm' },
    durationMs: 5,
  })
}
