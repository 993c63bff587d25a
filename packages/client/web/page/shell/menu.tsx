// What can be done with one session: a menu of Rename and Delete, shared by the sidebar and the header.
import type { SessionRow } from '@deepseek-ai/dsh-server/protocol'
import { Ellipsis, Keyboard, Pencil, Trash2 } from 'lucide-react'
import { Dialog, DropdownMenu } from 'radix-ui'
import { useState } from 'react'
import { call, messageOf } from '../api.ts'
import { host } from '../state/host.ts'
import { t } from '../strings.ts'
import { navigate } from '../ui.ts'

interface SessionMenuProps {
  readonly session: SessionRow
  readonly onRename: () => void
  readonly onDelete: () => void
  readonly onShortcuts?: (() => void) | undefined
  readonly className?: string
}

export function SessionMenu({ onRename, onDelete, onShortcuts, session, className = '' }: SessionMenuProps) {
  return (
    <DropdownMenu.Root>
      <DropdownMenu.Trigger
        className={`icon-button ${className}`}
        aria-label={`${t.more}: ${session.title || t.untitled}`}
      >
        <Ellipsis size={15} />
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        {/* Rename moves the focus into its field, so the trigger must not take it back. */}
        <DropdownMenu.Content
          className="menu"
          align="end"
          sideOffset={4}
          collisionPadding={12}
          onCloseAutoFocus={(event) => event.preventDefault()}
        >
          <DropdownMenu.Item className="menu-item" onSelect={onRename}>
            <Pencil size={14} className="text-ink3" />
            {t.rename}
          </DropdownMenu.Item>
          {onShortcuts && (
            <DropdownMenu.Item className="menu-item" onSelect={onShortcuts}>
              <Keyboard size={14} className="text-ink3" />
              {t.shortcuts}
            </DropdownMenu.Item>
          )}
          <DropdownMenu.Item className="menu-item text-err" onSelect={onDelete}>
            <Trash2 size={14} />
            {t.remove}
          </DropdownMenu.Item>
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  )
}

interface DeleteProps {
  readonly session: SessionRow | undefined
  readonly current: string | undefined
  readonly onClose: () => void
}

export function DeleteDialog({ session, current, onClose }: DeleteProps) {
  const [problem, setProblem] = useState<string>()
  async function remove(id: string): Promise<void> {
    try {
      await call('sessions.delete', { id })
      host.apply({ kind: 'removed', id })
      onClose()
      if (id === current) navigate('/', { replace: true })
    } catch (error) {
      setProblem(messageOf(error))
    }
  }
  return (
    <Dialog.Root open={session !== undefined} onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="overlay" />
        <Dialog.Content className="dialog gap-3 p-4">
          <Dialog.Title className="text-title font-semibold">{t.removeTitle}</Dialog.Title>
          <Dialog.Description className="text-ink2">
            {session && t.removeBody(session.title || t.untitled)}
          </Dialog.Description>
          {problem && <p className="text-err">{problem}</p>}
          <div className="flex justify-end gap-2 pt-1">
            <Dialog.Close className="button">{t.cancel}</Dialog.Close>
            <button type="button" className="button button-danger" onClick={() => session && void remove(session.id)}>
              {t.remove}
            </button>
          </div>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  )
}
