// A person at a terminal: its screen as it is, keys as they are pressed. Loaded when the first one is opened.
import type { TerminalFrame } from '@deepseek-ai/dsh-server/protocol'
import type { TerminalRow } from '@deepseek-ai/dsh-terminal'
import { FitAddon } from '@xterm/addon-fit'
import { Terminal } from '@xterm/xterm'
import '@xterm/xterm/css/xterm.css'
import { SquareTerminal, X } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { call } from '../api.ts'
import { inOrder } from '../in-order.ts'
import { openStream } from '../stream.ts'
import { t } from '../strings.ts'

interface TerminalPanelProps {
  readonly sessionId: string
  readonly row: TerminalRow
  readonly onClose: () => void
  readonly onAttempt: (work: Promise<unknown>) => void
}

export function TerminalPanel({ sessionId, row, onClose, onAttempt }: TerminalPanelProps) {
  const box = useRef<HTMLDivElement>(null)
  const [lost, setLost] = useState(false)
  const { id } = row
  useEffect(() => {
    if (!box.current) return undefined
    return attach(box.current, { sessionId, id, onAttempt, onLost: setLost })
    // The callbacks change with every frame; what is attached to does not.
  }, [sessionId, id])
  const ended = row.status.kind === 'exited'
  return (
    <section
      className="overflow-hidden rounded-card border border-line2 bg-sunken"
      aria-label={row.name ?? id}
      data-terminal={id}
    >
      <header className="flex h-8 items-center gap-2 border-b border-line bg-raised px-3 text-meta">
        <SquareTerminal size={13} className="flex-none text-ink3" />
        <span className="flex-none font-medium">{row.name ?? id}</span>
        <span className="min-w-0 truncate font-mono text-mono text-ink3">{row.cwd}</span>
        <span className="ml-auto flex-none text-ink3">{ended ? t.terminal.ended : lost ? t.connecting : ''}</span>
        <button
          type="button"
          className="h-6 flex-none rounded-control px-1.5 text-err hover:bg-hover"
          onClick={() => onAttempt(call('terminals.close', { id: sessionId, terminalId: id }))}
        >
          {t.terminal.end}
        </button>
        <button type="button" className="icon-button size-6" aria-label={t.terminal.hide} onClick={onClose}>
          <X size={13} />
        </button>
      </header>
      <div ref={box} className="h-[300px] px-2 py-1.5" />
    </section>
  )
}

interface Attachment {
  readonly sessionId: string
  readonly id: string
  readonly onAttempt: (work: Promise<unknown>) => void
  readonly onLost: (lost: boolean) => void
}

function attach(box: HTMLElement, { sessionId, id, onAttempt, onLost }: Attachment): () => void {
  const style = getComputedStyle(document.documentElement)
  const colour = (name: string): string => style.getPropertyValue(name).trim()
  const screen = new Terminal({
    fontFamily: style.getPropertyValue('--font-mono'),
    fontSize: 12,
    scrollback: 10_000,
    screenReaderMode: matchMedia('(prefers-reduced-motion: reduce)').matches,
    theme: { background: colour('--sunken'), foreground: colour('--ink'), cursor: colour('--accent') },
  })
  const fit = new FitAddon()
  screen.loadAddon(fit)
  screen.open(box)
  const type = inOrder((data) => {
    const typed = call('terminals.input', { id: sessionId, terminalId: id, data })
    onAttempt(typed)
    return typed
  })
  screen.onData(type)
  const resize = (): void => {
    fit.fit()
    const { cols, rows } = screen
    onAttempt(call('terminals.resize', { id: sessionId, terminalId: id, cols, rows }))
  }
  let timer: ReturnType<typeof setTimeout> | undefined
  const observer = new ResizeObserver(() => {
    clearTimeout(timer)
    timer = setTimeout(resize, 100)
  })
  observer.observe(box)
  let ended = false
  const stream = openStream({
    url: () => `/api/sessions/${encodeURIComponent(sessionId)}/terminals/${encodeURIComponent(id)}/stream`,
    lastEventId: () => undefined,
    onMessage({ data }) {
      const frame = JSON.parse(data) as TerminalFrame
      if (frame.kind === 'screen') {
        screen.reset()
        screen.write(frame.data)
      } else if (frame.kind === 'data') screen.write(frame.data)
      else {
        ended = true
        screen.options.disableStdin = true
        stream.close()
      }
    },
    onConnection: ({ kind }) => onLost(kind !== 'open' && !ended),
  })
  screen.focus()
  return () => {
    clearTimeout(timer)
    observer.disconnect()
    stream.close()
    screen.dispose()
  }
}
