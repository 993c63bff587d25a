// The line over the composer that says the page is cut off, and the note when it is back.
import { WifiOff } from 'lucide-react'
import type { SessionSnapshot } from '../state/session.ts'
import { t } from '../strings.ts'
import { useNow } from '../ui.ts'

interface Props {
  readonly snapshot: Pick<SessionSnapshot, 'connection' | 'note' | 'session' | 'trouble'>
  readonly onRetry: () => void
}

export function ConnectionLine({ snapshot, onRetry }: Props) {
  const { connection, note, session, trouble } = snapshot
  const waiting = connection.kind === 'waiting'
  const now = useNow(waiting, 250)
  if (waiting || (connection.kind === 'connecting' && session.caughtUp)) {
    const seconds = waiting ? Math.max(0, Math.ceil((connection.retryAt - now) / 1000)) : 0
    return (
      <div className="flex h-7 items-center gap-2 text-warn" role="status" aria-live="polite" data-offline>
        <span className="grid w-5 place-items-center" aria-hidden="true">
          <WifiOff size={14} />
        </span>
        <span className="flex-none font-medium">{t.offline}</span>
        {trouble && (
          <span className="min-w-0 truncate" title={trouble}>
            {trouble}
          </span>
        )}
        <span aria-hidden="true">·</span>
        <span className="flex-none tabular-nums" aria-live="off">
          {waiting ? t.retryingIn(seconds) : t.connecting}
        </span>
        <span aria-hidden="true">·</span>
        <button type="button" className="flex-none underline underline-offset-2" onClick={onRetry}>
          {t.retryNow}
        </button>
      </div>
    )
  }
  if (!note) return null
  return (
    <div className="flex h-7 items-center pl-7 text-meta text-ink3" role="status" aria-live="polite">
      {note.kind === 'reloaded' ? t.reloaded : t.caughtUp(note.events)}
    </div>
  )
}
