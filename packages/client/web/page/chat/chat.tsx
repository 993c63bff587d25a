// One session: its header, list and composer, over its store.
import type { HostInfo, SessionRow } from '@deepseek-ai/dsh-server/protocol'
import { contentText } from '@deepseek-ai/dsh-tools/presentation'
import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react'
import { call, messageOf } from '../api.ts'
import { Approvals } from '../aside/approvals.tsx'
import { Dock } from '../aside/dock.tsx'
import { FilePanel } from '../aside/file-panel.tsx'
import { PermissionMenu } from '../aside/permission.tsx'
import { Questions } from '../aside/questions.tsx'
import { initialSnapshot, openSession, type SessionHandle } from '../state/session.ts'
import { t } from '../strings.ts'
import { navigate } from '../ui.ts'
import { Composer, type Incoming } from './composer.tsx'
import { ConnectionLine } from './connection.tsx'
import { ChatList } from './list.tsx'
import { Queue } from './queue.tsx'
import type { EndAction } from './rows.tsx'

interface ChatProps {
  readonly sessionId: string
  readonly row: SessionRow | undefined
  readonly info: HostInfo | undefined
  readonly onSettings: () => void
  /** Something waits for an answer of the person, or nothing does any more. */
  readonly onNeedsYou: (needsYou: boolean) => void
}

function useSession(id: string): SessionHandle {
  const [handle, setHandle] = useState<SessionHandle>(() => idle(id))
  useEffect(() => {
    const opened = openSession(id)
    setHandle(opened)
    return () => opened.close()
  }, [id])
  return handle
}

/** Stands in for the instant before the effect opens the stream. */
function idle(id: string): SessionHandle {
  return {
    id,
    subscribe: () => () => undefined,
    snapshot: () => initialSnapshot,
    retryNow: () => undefined,
    close: () => undefined,
  }
}

export function Chat({ sessionId, row, info, onSettings, onNeedsYou }: ChatProps) {
  const handle = useSession(sessionId)
  const snapshot = useSyncExternalStore(handle.subscribe, handle.snapshot)
  const { session, aside, connection, problem } = snapshot
  const [incoming, setIncoming] = useState<Incoming>()
  const [stopping, setStopping] = useState(false)
  const [failure, setFailure] = useState<string>()
  const latest = useRef(session)
  latest.current = session

  useEffect(() => setStopping(false), [session.running])

  const needsYou = aside.approvals.length + aside.questions.length > 0
  useEffect(() => {
    onNeedsYou(needsYou)
    return () => onNeedsYou(false)
  }, [needsYou, onNeedsYou])
  const promotable = useMemo(() => new Set(aside.promotable.map(({ callId }) => callId)), [aside.promotable])

  const guarded = useCallback(async (work: () => Promise<unknown>) => {
    setFailure(undefined)
    try {
      await work()
    } catch (error) {
      setFailure(messageOf(error))
    }
  }, [])

  const promote = useCallback(
    (callId: string) => void guarded(() => call('jobs.promote', { id: sessionId, callId })),
    [guarded, sessionId],
  )

  const stop = useCallback(() => {
    setStopping(true)
    void guarded(() => call('sessions.cancel', { id: sessionId })).then(() => setStopping(false))
  }, [guarded, sessionId])

  const onAction = useCallback(
    (action: EndAction, turn: number) => {
      if (action === 'set-key' || action === 'choose-model') return onSettings()
      if (action === 'new-session') return navigate('/')
      const prompt = latest.current.items.findLast(
        (item) => item.kind === 'prompt' && item.turn === turn && item.message.source.kind === 'user',
      )
      if (prompt?.kind === 'prompt')
        void guarded(() => call('sessions.send', { id: sessionId, text: contentText(prompt.message.content) }))
      return undefined
    },
    [guarded, onSettings, sessionId],
  )

  useEffect(() => {
    const onEscape = (event: KeyboardEvent): void => {
      if (
        event.key === 'Escape' &&
        !event.defaultPrevented &&
        latest.current.running &&
        !document.querySelector('[role=dialog],[role=menu]')
      )
        stop()
    }
    window.addEventListener('keydown', onEscape)
    return () => window.removeEventListener('keydown', onEscape)
  }, [stop])

  if (problem !== undefined || connection.kind === 'refused') {
    return (
      <div className="grid flex-1 place-content-center gap-3 px-4 text-center">
        <p>
          {t.sessionMissing} <span className="text-ink3">{problem}</span>
        </p>
        <button type="button" className="button mx-auto" onClick={() => navigate('/')}>
          {t.firstPage}
        </button>
      </div>
    )
  }
  const blocked =
    connection.kind === 'waiting' || (connection.kind === 'connecting' && session.caughtUp)
      ? t.sendOffline
      : session.caughtUp
        ? undefined
        : t.sendLoading
  return (
    <>
      {session.caughtUp ? (
        <ChatList session={session} promotable={promotable} onPromote={promote} onAction={onAction} />
      ) : (
        <div className="mx-auto w-full max-w-[744px] flex-1 px-6 py-5 text-ink3">
          {connection.kind === 'open' ? t.loading : ''}
        </div>
      )}
      <div className="px-6 pb-2 max-[759px]:px-3">
        <div className="mx-auto max-w-[744px]">
          <ConnectionLine snapshot={snapshot} onRetry={handle.retryNow} />
          <Queue
            sessionId={sessionId}
            queue={session.running ? session.queue : []}
            onEdit={(text) => setIncoming({ text })}
          />
          {failure && (
            <div className="px-1 pb-1 text-err" role="alert">
              {failure}
            </div>
          )}
          <Approvals
            approvals={aside.approvals}
            onAnswer={(approvalId, answer) =>
              guarded(() => call('approvals.answer', { id: sessionId, approvalId, answer }))
            }
          />
          <Questions
            questions={aside.questions}
            onAnswer={(questionId, text, secret) =>
              guarded(() => call('questions.answer', { id: sessionId, questionId, text, secret }))
            }
            onDismiss={(questionId) => guarded(() => call('questions.dismiss', { id: sessionId, questionId }))}
          />
          <Dock sessionId={sessionId} aside={aside} onFailure={setFailure} />
          <Composer
            sessionId={sessionId}
            info={info}
            model={row?.model ?? session.model ?? info?.defaultModel}
            running={session.running}
            stopping={stopping}
            blocked={blocked}
            incoming={incoming}
            onSend={async (text) => void (await call('sessions.send', { id: sessionId, text }))}
            onStop={stop}
            onModel={(model) => void guarded(() => call('sessions.setModel', { id: sessionId, model }))}
            onSettings={onSettings}
          >
            {aside.permission && (
              <PermissionMenu
                permission={aside.permission}
                grants={aside.grants}
                onMode={(mode) => void guarded(() => call('permission.set', { id: sessionId, mode }))}
                onRevoke={(grantId) => void guarded(() => call('approvals.revoke', { id: sessionId, grantId }))}
              />
            )}
          </Composer>
        </div>
      </div>
      <FilePanel sessionId={sessionId} />
      <div className="sr-only" aria-live="polite">
        {session.running ? t.running : ''}
      </div>
    </>
  )
}
