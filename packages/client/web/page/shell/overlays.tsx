// The command palette and the list of keys.
import type { SessionRow } from '@deepseek-ai/dsh-server/protocol'
import { X } from 'lucide-react'
import { Dialog } from 'radix-ui'
import { useState } from 'react'
import { folderName } from '../format.ts'
import { t } from '../strings.ts'
import { keyLabel, navigate, sessionPath } from '../ui.ts'

export interface Command {
  readonly id: string
  readonly label: string
  readonly hint?: string
  readonly run: () => void
}

interface PaletteProps {
  readonly open: boolean
  readonly sessions: readonly SessionRow[]
  readonly actions: readonly Command[]
  readonly onClose: () => void
}

export function CommandPalette({ open, sessions, actions, onClose }: PaletteProps) {
  return (
    <Dialog.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="overlay" />
        <Dialog.Content className="dialog overflow-hidden" aria-describedby={undefined}>
          <Dialog.Title className="sr-only">{t.commandPalette}</Dialog.Title>
          <CommandList sessions={sessions} actions={actions} onClose={onClose} />
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

function CommandList({ sessions, actions, onClose }: Omit<PaletteProps, 'open'>) {
  const [query, setQuery] = useState('')
  const [selected, setSelected] = useState(0)
  const wanted = query.trim().toLowerCase()
  const places = sessions.map((session): Command => ({
    id: session.id,
    label: session.title || t.untitled,
    hint: folderName(session.cwd),
    run: () => navigate(sessionPath(session.id)),
  }))
  const shown = [...actions, ...places].filter(({ label }) => label.toLowerCase().includes(wanted)).slice(0, 50)
  const run = (command: Command | undefined): void => {
    if (!command) return
    onClose()
    command.run()
  }
  return (
    <>
      <input
        className="h-11 w-full flex-none border-b border-line bg-transparent px-4 text-prose outline-none"
        role="combobox"
        aria-expanded="true"
        aria-controls="commands"
        aria-activedescendant={`command-${selected}`}
        aria-label={t.commandPalette}
        placeholder={t.commandPlaceholder}
        value={query}
        onChange={(event) => {
          setQuery(event.target.value)
          setSelected(0)
        }}
        onKeyDown={(event) => {
          const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
          if (step !== 0 && shown.length > 0) {
            event.preventDefault()
            const next = (selected + step + shown.length) % shown.length
            setSelected(next)
            document.getElementById(`command-${next}`)?.scrollIntoView({ block: 'nearest' })
          } else if (event.key === 'Enter') run(shown[selected])
        }}
      />
      <div className="min-h-0 overflow-y-auto p-1" role="listbox" id="commands" aria-label={t.commandPalette}>
        {shown.map((command, index) => (
          <div
            key={command.id}
            id={`command-${index}`}
            role="option"
            aria-selected={index === selected}
            className="menu-item"
            onClick={() => run(command)}
          >
            <span className="min-w-0 truncate">{command.label}</span>
            <span className="ml-auto flex-none text-meta text-ink3">{command.hint}</span>
          </div>
        ))}
        {shown.length === 0 && <div className="px-2 py-1 text-ink3">{t.noMatches}</div>}
      </div>
    </>
  )
}

export function ShortcutsDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  return (
    <Dialog.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="overlay" />
        <Dialog.Content className="dialog p-4" aria-describedby={undefined}>
          <div className="flex items-center pb-2">
            <Dialog.Title className="font-semibold">{t.shortcuts}</Dialog.Title>
            <Dialog.Close className="icon-button ml-auto" aria-label={t.close}>
              <X size={15} />
            </Dialog.Close>
          </div>
          <dl className="grid grid-cols-[auto_minmax(0,1fr)] items-center gap-x-4 gap-y-1.5 overflow-y-auto">
            {t.keys.map(([keys, what]) => (
              <div key={keys} className="contents">
                <dt>
                  <span className="kbd whitespace-pre">{keyLabel(keys)}</span>
                </dt>
                <dd className="text-ink2">{what}</dd>
              </div>
            ))}
          </dl>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  )
}
