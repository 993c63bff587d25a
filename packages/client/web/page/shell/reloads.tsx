// What was taken over from disk while the host runs: a note that a change has arrived, and the list of the last ones with what is different
// for models.
import type { HostInfo, ReloadNotice, ToolChange } from '@deepseek-ai/dsh-server/protocol'
import { RefreshCw, TriangleAlert, X } from 'lucide-react'
import { Dialog } from 'radix-ui'
import { useEffect, useState } from 'react'
import { DiffLines } from '../cards/diff.tsx'
import { formatClock } from '../format.ts'
import { diffLines } from '../state/diff-lines.ts'
import { t } from '../strings.ts'

const shownMs = 6000

export const failed = (notice: ReloadNotice | undefined): boolean =>
  notice !== undefined &&
  (notice.error !== undefined || notice.rows.some(({ kind }) => kind === 'kept' || kind === 'failed'))

function headline({ rows, error }: ReloadNotice): string {
  if (error !== undefined) return t.compositionKept
  const [first] = rows
  if (first === undefined) return ''
  const broken = rows.find(({ kind }) => kind === 'kept' || kind === 'failed') ?? first
  return t.rowChange(broken.row, broken.kind, rows.length - 1)
}

/** A good change is told for a moment; a broken one stays until it is put away or another one comes. */
export function ReloadNote({ info, onOpen }: { info: HostInfo | undefined; onOpen: () => void }) {
  const newest = info?.reloads[0]
  const [seen, setSeen] = useState<number>()
  const known = info !== undefined
  const id = newest?.id ?? 0
  // What happened before the page was open is no news, unless it is still broken.
  useEffect(() => {
    if (known) setSeen((before) => before ?? (failed(newest) ? id - 1 : id))
  }, [known, id, newest])
  const fresh = newest !== undefined && seen !== undefined && newest.id > seen
  const broken = failed(newest)
  useEffect(() => {
    if (!fresh || broken) return undefined
    const timer = setTimeout(() => setSeen(id), shownMs)
    return () => clearTimeout(timer)
  }, [fresh, broken, id])
  if (!fresh) return null
  const open = (): void => {
    setSeen(id)
    onOpen()
  }
  return (
    <div className="reload-note" role="status" aria-live="polite" data-reload={broken ? 'broken' : 'good'}>
      {broken ? (
        <TriangleAlert size={14} className="flex-none text-err" />
      ) : (
        <RefreshCw size={14} className="flex-none text-ink3" />
      )}
      <button type="button" className="min-w-0 truncate text-left" onClick={open}>
        {headline(newest)}
      </button>
      <button type="button" className="flex-none text-ink2 underline underline-offset-2" onClick={open}>
        {t.show}
      </button>
      <button type="button" className="icon-button" aria-label={t.close} onClick={() => setSeen(id)}>
        <X size={14} />
      </button>
    </div>
  )
}

interface DialogProps {
  readonly open: boolean
  readonly reloads: readonly ReloadNotice[]
  readonly onClose: () => void
}

export function ReloadsDialog({ open, reloads, onClose }: DialogProps) {
  return (
    <Dialog.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="overlay" />
        <Dialog.Content className="dialog dialog-wide" aria-describedby={undefined}>
          <div className="flex h-11 flex-none items-center border-b border-line pl-4 pr-2">
            <Dialog.Title className="font-semibold">{t.pluginChanges}</Dialog.Title>
            <Dialog.Close className="icon-button ml-auto" aria-label={t.close}>
              <X size={15} />
            </Dialog.Close>
          </div>
          <div className="min-h-0 overflow-y-auto px-4 pb-4">
            {reloads.length === 0 && <p className="pt-4 text-ink3">{t.noPluginChanges}</p>}
            {reloads.map((notice) => (
              <Notice key={notice.id} notice={notice} />
            ))}
          </div>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

function Notice({ notice }: { notice: ReloadNotice }) {
  return (
    <section className="pt-4" aria-label={headline(notice)}>
      <h3 className="pb-1.5 text-label text-ink3 tabular-nums">{formatClock(notice.time)}</h3>
      {notice.error !== undefined && <Trouble what={t.compositionKept} error={notice.error} />}
      {notice.rows.map(({ row, kind, because, error }) =>
        error === undefined ? (
          <div key={row} className="break-words py-0.5">
            {t.rowChange(row, kind, 0)} <span className="text-ink3">{because.map(fileName).join(', ')}</span>
          </div>
        ) : (
          <Trouble key={row} what={t.rowChange(row, kind, 0)} error={error} />
        ),
      )}
      {notice.tools.map((tool) => (
        <Tool key={tool.name} tool={tool} />
      ))}
      {notice.breaksCache && <p className="pt-1 text-ink2">{t.breaksCache}</p>}
    </section>
  )
}

function Trouble({ what, error }: { what: string; error: string }) {
  return (
    <div className="mb-1 rounded-control bg-errw px-2 py-1">
      <div className="text-err">{what}</div>
      <div className="whitespace-pre-wrap break-words font-mono text-mono">{error}</div>
    </div>
  )
}

function Tool({ tool: { name, kind, fields } }: { tool: ToolChange }) {
  return (
    <div className="py-1">
      <div>
        <span className="font-mono text-mono">{name}</span> {t.toolChange[kind]}
      </div>
      {fields.map(({ field, before, after }) => (
        <div key={field} className="mt-1 overflow-hidden rounded-card border border-line">
          <div className="bg-sunken px-3 py-1 text-label text-ink2">{t.toolField[field]}</div>
          <DiffLines
            label={`${name} ${t.toolField[field]}`}
            lines={diffLines({ path: field, oldText: before, newText: after })}
          />
        </div>
      ))}
    </div>
  )
}

/** A reason is a path or a word. */
function fileName(reason: string): string {
  return reason.split(/[\\/]/).at(-1) ?? reason
}
