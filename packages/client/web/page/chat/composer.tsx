// Where a person writes: draft, tool palette, model, send, queue and stop.
import type { HostInfo } from '@deepseek-ai/dsh-server/protocol'
import type { ModelRef } from '@deepseek-ai/dsh-llm'
import { ArrowUp, Square } from 'lucide-react'
import { useEffect, useLayoutEffect, useRef, useState, type KeyboardEvent, type ReactNode } from 'react'
import { messageOf } from '../api.ts'
import { t } from '../strings.ts'
import { readDraft, writeDraft } from './draft.ts'
import { ModelMenu } from './model.tsx'
import { matchTools, Palette, paletteOptionId, Parameters, useTools } from './palette.tsx'

export interface Incoming {
  readonly text: string
  /** Takes the place of what is written; otherwise it is put before it. */
  readonly replace?: boolean
}

export interface ComposerProps {
  readonly sessionId: string | undefined
  readonly info: HostInfo | undefined
  readonly model: ModelRef | undefined
  readonly running: boolean
  readonly stopping: boolean
  /** Why nothing can be sent now. */
  readonly blocked: string | undefined
  /** Text to take over, e.g. of a withdrawn message; a new object each time. */
  readonly incoming: Incoming | undefined
  /** Rejects when the text was not sent; the draft is kept then. */
  readonly onSend: (text: string) => Promise<void>
  readonly onStop: () => void
  readonly onModel: (model: ModelRef) => void
  readonly onSettings: () => void
  /** Further controls beside the model. */
  readonly children?: ReactNode
}

const tallest = 220

export function Composer(props: ComposerProps) {
  const { sessionId, running, blocked, incoming } = props
  const [text, setText] = useState(() => readDraft(sessionId))
  const [sending, setSending] = useState(false)
  const [problem, setProblem] = useState<string>()
  const [selected, setSelected] = useState(0)
  const [dismissed, setDismissed] = useState(false)
  const area = useRef<HTMLTextAreaElement>(null)

  const tools = useTools(sessionId, text.startsWith('/'))
  const query = /^\/(\S*)$/.exec(text)?.[1]
  const chosenName = /^\/(\S+)\s/.exec(text)?.[1]
  const chosen = tools?.find(({ name }) => name === chosenName)
  const matches = query !== undefined && tools ? matchTools(tools, query) : []
  const paletteOpen = query !== undefined && tools !== undefined && !dismissed
  const reason = blocked ?? (text.trim() === '' ? t.sendEmpty : undefined)

  const change = (next: string): void => {
    setText(next)
    writeDraft(sessionId, next)
    setSelected(0)
    setDismissed(false)
    setProblem(undefined)
  }

  useEffect(() => {
    if (!incoming) return
    change(incoming.replace || text.trim() === '' ? incoming.text : `${incoming.text}\n${text}`)
    area.current?.focus()
    // Only a new `incoming` counts, not each keystroke.
  }, [incoming])

  // Whoever comes to the first page with a keyboard comes to write; on a touch screen the keyboard would cover the page. In a
  // session the letters are keys of the list until somebody writes.
  useEffect(() => {
    const elsewhere = document.activeElement !== null && document.activeElement !== document.body
    if (sessionId === undefined && !elsewhere && matchMedia('(pointer: fine)').matches) area.current?.focus()
  }, [sessionId])

  useLayoutEffect(() => {
    const box = area.current
    if (!box) return
    box.style.height = 'auto'
    box.style.height = `${Math.min(tallest, box.scrollHeight)}px`
  }, [text])

  async function send(): Promise<void> {
    if (reason !== undefined || sending) return
    setSending(true)
    setProblem(undefined)
    try {
      await props.onSend(text.trim())
      change('')
    } catch (error) {
      setProblem(t.sendFailed(messageOf(error)))
    } finally {
      setSending(false)
    }
  }

  const choose = (name: string): void => {
    change(`/${name} `)
    area.current?.focus()
  }

  function onKeyDown(event: KeyboardEvent): void {
    // An input method uses Enter to accept its candidate.
    if (event.nativeEvent.isComposing) return
    const match = matches[selected]
    if (paletteOpen && match) {
      const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
      const complete = event.key === 'Tab' || (event.key === 'Enter' && !event.shiftKey)
      if (step !== 0 || complete) event.preventDefault()
      if (step !== 0) return setSelected((selected + step + matches.length) % matches.length)
      if (complete) return choose(match.name)
    }
    if (event.key === 'Escape') {
      event.stopPropagation()
      if (paletteOpen) setDismissed(true)
      else if (running) props.onStop()
      else area.current?.blur()
    } else if (event.key === 'Enter' && !event.shiftKey) {
      event.preventDefault()
      void send()
    }
  }

  return (
    <div className="relative">
      {paletteOpen && <Palette tools={matches} selected={selected} onChoose={choose} />}
      {chosen && <Parameters tool={chosen} />}
      {problem && (
        <div className="px-1 pb-1 text-err" role="alert">
          {problem}
        </div>
      )}
      <form
        className="rounded-composer border border-field bg-raised focus-within:border-accent"
        onSubmit={(event) => {
          event.preventDefault()
          void send()
        }}
      >
        <textarea
          ref={area}
          data-composer
          rows={1}
          className="block w-full resize-none bg-transparent px-3.5 pt-3 text-prose outline-none max-[759px]:text-[16px]"
          placeholder={t.composer}
          aria-label={t.composer}
          role="combobox"
          aria-expanded={paletteOpen}
          aria-controls="palette"
          {...(paletteOpen && matches.length > 0 ? { 'aria-activedescendant': paletteOptionId(selected) } : {})}
          value={text}
          onChange={(event) => change(event.target.value)}
          onKeyDown={onKeyDown}
        />
        <div className="flex items-center gap-1.5 px-2 pb-2 pt-1">
          <ModelMenu info={props.info} model={props.model} onChoose={props.onModel} onSettings={props.onSettings} />
          {props.children}
          <span className="ml-auto min-w-0 truncate text-meta text-ink3" aria-live="polite">
            {blocked}
          </span>
          {running && (
            <button
              type="button"
              className="icon-button border border-line2"
              aria-label={t.stop}
              title={props.stopping ? t.stopping : `${t.stop} (Esc)`}
              disabled={props.stopping}
              onClick={props.onStop}
            >
              <Square size={11} fill="currentColor" />
            </button>
          )}
          <button
            type="submit"
            className={`icon-button ${reason === undefined ? 'bg-ink text-bg hover:bg-ink2! hover:text-bg!' : 'bg-active'}`}
            aria-label={running ? t.queue : t.send}
            title={reason ?? (running ? t.queue : t.send)}
            disabled={reason !== undefined || sending}
          >
            <ArrowUp size={15} />
          </button>
        </div>
      </form>
    </div>
  )
}
