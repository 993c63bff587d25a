// The list of sessions, grouped by folder, with search, rename and delete.
import type { SessionRow } from '@deepseek-ai/dsh-server/protocol'
import { PanelLeft, Plus, Search, Settings, X } from 'lucide-react'
import { useEffect, useMemo, useRef, useState } from 'react'
import { folderName, formatAge } from '../format.ts'
import { host, type HostSnapshot } from '../state/host.ts'
import { t } from '../strings.ts'
import { navigate, sessionPath, useNow } from '../ui.ts'
import { SessionMenu } from './menu.tsx'

interface SidebarProps {
  readonly snapshot: HostSnapshot
  readonly current: string | undefined
  readonly renaming: string | undefined
  readonly onRename: (id: string | undefined) => void
  readonly onDelete: (session: SessionRow) => void
  readonly onHide: () => void
  readonly onSettings: () => void
  readonly onGo: () => void
}

/** Groups in order of their newest session. */
export function groupByFolder(sessions: readonly SessionRow[], query: string): [string, SessionRow[]][] {
  const wanted = query.trim().toLowerCase()
  const groups = new Map<string, SessionRow[]>()
  for (const session of sessions) {
    if (wanted !== '' && !`${session.title}\n${session.cwd}`.toLowerCase().includes(wanted)) continue
    const group = groups.get(session.cwd)
    if (group) group.push(session)
    else groups.set(session.cwd, [session])
  }
  return [...groups]
}

export function Sidebar(props: SidebarProps) {
  const { snapshot, current } = props
  const [query, setQuery] = useState<string>()
  const now = useNow(true, 30_000)
  const groups = useMemo(() => groupByFolder(snapshot.sessions, query ?? ''), [snapshot.sessions, query])
  const go = (path: string): void => {
    navigate(path)
    props.onGo()
  }
  return (
    <nav className="flex h-full w-[236px] flex-none flex-col border-r border-line bg-side" aria-label={t.appName}>
      <div className="flex h-11 flex-none items-center gap-1 pl-4 pr-2">
        <button
          type="button"
          className="flex items-center gap-2 rounded-control text-prose font-semibold"
          onClick={() => go('/')}
        >
          <span className="brand-mark" aria-hidden="true">
            &gt;_
          </span>
          {t.appName}
        </button>
        <span className="flex-1" />
        <button
          type="button"
          className="icon-button"
          aria-label={t.search}
          aria-pressed={query !== undefined}
          onClick={() => setQuery(query === undefined ? '' : undefined)}
        >
          <Search size={15} />
        </button>
        <button type="button" className="icon-button" aria-label={t.toggleSidebar} onClick={props.onHide}>
          <PanelLeft size={15} />
        </button>
      </div>
      <div className="flex-none px-2 pb-2">
        <button type="button" className="row h-[30px] px-2 font-medium" onClick={() => go('/')}>
          <Plus size={15} className="text-ink2" />
          {t.newSession}
          <span className="kbd ml-auto max-[759px]:hidden">N</span>
        </button>
        {query !== undefined && (
          <div className="relative pt-1">
            <input
              className="field pr-8"
              autoFocus
              placeholder={t.search}
              aria-label={t.search}
              value={query}
              onChange={(event) => setQuery(event.target.value)}
              onKeyDown={(event) => event.key === 'Escape' && setQuery(undefined)}
            />
            <button
              type="button"
              className="icon-button absolute right-0 top-1.5 h-7!"
              aria-label={t.close}
              onClick={() => setQuery(undefined)}
            >
              <X size={13} />
            </button>
          </div>
        )}
      </div>
      <div className="min-h-0 flex-1 overflow-y-auto px-2 pb-3">
        {groups.map(([cwd, sessions]) => (
          <section key={cwd} className="pb-3" aria-label={cwd}>
            <h2 className="truncate px-2 py-1 text-label text-ink3" title={cwd}>
              {folderName(cwd)}
            </h2>
            {sessions.map((session) => (
              <Entry
                key={session.id}
                session={session}
                now={now}
                current={session.id === current}
                renaming={props.renaming === session.id}
                onGo={() => go(sessionPath(session.id))}
                onRename={props.onRename}
                onDelete={props.onDelete}
              />
            ))}
          </section>
        ))}
        {snapshot.loaded && groups.length === 0 && (
          <p className="px-2 text-ink3">{query ? t.noMatches : t.noSessions}</p>
        )}
      </div>
      <div className="flex-none border-t border-line p-2">
        <button type="button" className="row h-[30px] px-2 text-ink2" onClick={props.onSettings}>
          <Settings size={15} />
          {t.settings}
          {snapshot.info && snapshot.info.problems.length > 0 && (
            <span className="ml-auto text-meta text-err tabular-nums">{snapshot.info.problems.length}</span>
          )}
        </button>
      </div>
    </nav>
  )
}

interface EntryProps {
  readonly session: SessionRow
  readonly now: number
  readonly current: boolean
  readonly renaming: boolean
  readonly onGo: () => void
  readonly onRename: (id: string | undefined) => void
  readonly onDelete: (session: SessionRow) => void
}

function Entry({ session, now, current, renaming, onGo, onRename, onDelete }: EntryProps) {
  const title = session.title || t.untitled
  if (renaming) return <RenameField session={session} onDone={() => onRename(undefined)} />
  return (
    <div
      className={`group relative flex h-[30px] items-center rounded-control pointer-coarse:h-10 ${current ? 'bg-active' : 'hover:bg-hover'}`}
      data-session={session.id}
    >
      <a
        href={sessionPath(session.id)}
        className={`flex h-full min-w-0 flex-1 items-center gap-2 px-2 ${current ? 'font-medium' : 'text-ink2'}`}
        aria-current={current ? 'page' : undefined}
        onDoubleClick={() => onRename(session.id)}
        onClick={(event) => {
          // A modified click opens a tab, as links do.
          if (event.metaKey || event.ctrlKey || event.shiftKey) return
          event.preventDefault()
          onGo()
        }}
      >
        <span className="min-w-0 flex-1 truncate" title={title}>
          {title}
        </span>
        {session.status === 'running' && <Dot className="bg-accent" label={t.running} />}
        {session.status !== 'running' && session.interrupted && <Dot className="bg-warn" label={t.interrupted} />}
        <span className="min-w-6 flex-none text-right text-meta tabular-nums text-ink3 group-hover:invisible group-focus-within:invisible pointer-coarse:pr-9">
          {formatAge(session.updatedAt, now, t.now)}
        </span>
      </a>
      <SessionMenu
        session={session}
        className="absolute right-0.5 h-[26px]! opacity-0 group-hover:opacity-100 group-focus-within:opacity-100 data-[state=open]:opacity-100 pointer-coarse:opacity-100"
        onRename={() => onRename(session.id)}
        onDelete={() => onDelete(session)}
      />
    </div>
  )
}

function Dot({ className, label }: { className: string; label: string }) {
  return (
    <span className={`dot ${className}`} title={label}>
      <span className="sr-only">{label}</span>
    </span>
  )
}

export function RenameField({ session, onDone }: { session: SessionRow; onDone: () => void }) {
  const [title, setTitle] = useState(session.title)
  const field = useRef<HTMLInputElement>(null)
  const settled = useRef(false)
  useEffect(() => {
    // After the menu has let go of the focus.
    const timer = setTimeout(() => field.current?.select(), 0)
    return () => clearTimeout(timer)
  }, [])
  const finish = (save: boolean): void => {
    if (settled.current) return
    settled.current = true
    const wanted = title.trim()
    if (save && wanted !== '' && wanted !== session.title) void host.rename(session.id, wanted)
    onDone()
  }
  return (
    <input
      ref={field}
      className="field"
      aria-label={t.rename}
      value={title}
      onChange={(event) => setTitle(event.target.value)}
      onBlur={() => finish(true)}
      onKeyDown={(event) => {
        if (event.key === 'Enter') finish(true)
        if (event.key === 'Escape') {
          event.stopPropagation()
          finish(false)
        }
      }}
    />
  )
}
