// The frame of the page: sidebar, header, and the session or the first page beside it.
import { PanelLeft } from 'lucide-react'
import { useCallback, useEffect, useMemo, useState, useSyncExternalStore } from 'react'
import type { SessionRow } from '@deepseek-ai/dsh-server/protocol'
import { auth } from './api.ts'
import { Chat } from './chat/chat.tsx'
import { Start } from './chat/start.tsx'
import { usePageKeys } from './shell/keys.ts'
import { DeleteDialog, SessionMenu } from './shell/menu.tsx'
import { CommandPalette, ShortcutsDialog, type Command } from './shell/overlays.tsx'
import { ReloadNote, ReloadsDialog } from './shell/reloads.tsx'
import { SettingsDialog } from './shell/settings.tsx'
import { RenameField, Sidebar } from './shell/sidebar.tsx'
import { host } from './state/host.ts'
import { t } from './strings.ts'
import { chooseTheme, navigate, useNarrow, useSessionId } from './ui.ts'

type Overlay = 'settings' | 'palette' | 'shortcuts' | 'reloads'

const sidebarKey = 'dsh.sidebar'

export function App() {
  const signedOut = useSyncExternalStore(auth.subscribe, auth.signedOut)
  return signedOut ? <SignedOut /> : <Page />
}

function SignedOut() {
  return (
    <main className="grid h-full place-content-center gap-2 px-4 text-center">
      <h1 className="text-title font-semibold">{t.unauthorizedTitle}</h1>
      <p className="text-ink2">{t.unauthorizedBody}</p>
      <code className="mx-auto rounded-control bg-you px-2 py-1 font-mono text-mono">{t.unauthorizedCommand}</code>
    </main>
  )
}

function Page() {
  const snapshot = useSyncExternalStore(host.subscribe, host.snapshot)
  const sessionId = useSessionId()
  const narrow = useNarrow()
  const [pinned, setPinned] = useState(() => localStorage.getItem(sidebarKey) !== 'hidden')
  const [drawer, setDrawer] = useState(false)
  const [overlay, setOverlay] = useState<Overlay>()
  const [renaming, setRenaming] = useState<{ id: string; place: 'sidebar' | 'header' }>()
  const [needsYou, setNeedsYou] = useState(false)
  const [deleting, setDeleting] = useState<SessionRow>()
  const row = snapshot.sessions.find(({ id }) => id === sessionId)
  const title = row?.title || t.untitled

  useEffect(() => {
    document.title =
      sessionId === undefined
        ? t.appName
        : `${needsYou ? '• ' : row?.status === 'running' ? '● ' : ''}${title} · ${t.appName}`
  }, [sessionId, title, row?.status, needsYou])

  const toggleSidebar = useCallback(() => {
    if (narrow) return setDrawer((open) => !open)
    setPinned((shown) => {
      localStorage.setItem(sidebarKey, shown ? 'hidden' : 'shown')
      return !shown
    })
  }, [narrow])
  const openSettings = useCallback(() => setOverlay('settings'), [])
  const closeOverlay = useCallback(() => setOverlay(undefined), [])
  const newSession = useCallback(() => {
    navigate('/')
    // The composer of the first page exists once React has drawn it.
    setTimeout(() => document.querySelector<HTMLElement>('[data-composer]')?.focus(), 0)
  }, [])
  usePageKeys({
    newSession,
    palette: () => setOverlay('palette'),
    sidebar: toggleSidebar,
    shortcuts: () => setOverlay('shortcuts'),
  })

  const actions = useMemo(
    (): Command[] => [
      { id: 'new', label: t.newSession, hint: 'N', run: newSession },
      { id: 'settings', label: t.settings, run: openSettings },
      { id: 'sidebar', label: t.toggleSidebar, run: toggleSidebar },
      { id: 'reloads', label: t.pluginChanges, run: () => setOverlay('reloads') },
      { id: 'shortcuts', label: t.shortcuts, hint: '?', run: () => setOverlay('shortcuts') },
      ...(['light', 'dark', 'system'] as const).map((theme) => ({
        id: theme,
        label: `${t.theme}: ${t.themes[theme]}`,
        run: () => chooseTheme(theme),
      })),
    ],
    [newSession, openSettings, toggleSidebar],
  )

  const sidebar = (
    <Sidebar
      snapshot={snapshot}
      current={sessionId}
      renaming={renaming?.place === 'sidebar' ? renaming.id : undefined}
      onRename={(id) => setRenaming(id === undefined ? undefined : { id, place: 'sidebar' })}
      onDelete={setDeleting}
      onHide={toggleSidebar}
      onSettings={openSettings}
      onGo={() => setDrawer(false)}
    />
  )
  return (
    <div className="flex h-full">
      {!narrow && pinned && sidebar}
      {narrow && drawer && (
        <>
          <div className="overlay" onClick={() => setDrawer(false)} />
          <div className="drawer fixed inset-y-0 left-0 z-41">{sidebar}</div>
        </>
      )}
      <main className="flex h-full min-w-0 flex-1 flex-col">
        <header
          className={`flex h-11 flex-none items-center gap-2 pr-4 ${sessionId === undefined ? '' : 'border-b border-line'} ${narrow || !pinned ? 'pl-2' : 'pl-6'}`}
        >
          {(narrow || !pinned) && (
            <button type="button" className="icon-button" aria-label={t.openSidebar} onClick={toggleSidebar}>
              <PanelLeft size={16} />
            </button>
          )}
          {row &&
            (renaming?.place === 'header' && renaming.id === row.id ? (
              <span className="w-72">
                <RenameField session={row} onDone={() => setRenaming(undefined)} />
              </span>
            ) : (
              <>
                <h1
                  className="min-w-0 truncate font-semibold"
                  onDoubleClick={() => setRenaming({ id: row.id, place: 'header' })}
                >
                  {title}
                </h1>
                <span className="min-w-0 shrink-[2] truncate font-mono text-mono text-ink3 max-[759px]:hidden">
                  {row.cwd}
                </span>
              </>
            ))}
          {row && (
            <SessionMenu
              session={row}
              className="ml-auto"
              onRename={() => setRenaming({ id: row.id, place: 'header' })}
              onDelete={() => setDeleting(row)}
              onShortcuts={() => setOverlay('shortcuts')}
            />
          )}
        </header>
        {sessionId === undefined ? (
          <Start
            info={snapshot.info}
            offline={snapshot.loaded && snapshot.connection.kind === 'waiting'}
            onSettings={openSettings}
          />
        ) : (
          <Chat
            key={sessionId}
            sessionId={sessionId}
            row={row}
            info={snapshot.info}
            onSettings={openSettings}
            onNeedsYou={setNeedsYou}
          />
        )}
      </main>
      <SettingsDialog open={overlay === 'settings'} info={snapshot.info} onClose={closeOverlay} />
      <CommandPalette
        open={overlay === 'palette'}
        sessions={snapshot.sessions}
        actions={actions}
        onClose={closeOverlay}
      />
      <ReloadNote info={snapshot.info} onOpen={() => setOverlay('reloads')} />
      <ReloadsDialog open={overlay === 'reloads'} reloads={snapshot.info?.reloads ?? []} onClose={closeOverlay} />
      <ShortcutsDialog open={overlay === 'shortcuts'} onClose={closeOverlay} />
      <DeleteDialog session={deleting} current={sessionId} onClose={() => setDeleting(undefined)} />
    </div>
  )
}
