// The scrolling list: only rows that show are in the page, it follows the end only when it is there, and rows are one tab stop.
import { useVirtualizer } from '@tanstack/react-virtual'
import { ArrowDown } from 'lucide-react'
import { useCallback, useLayoutEffect, useMemo, useRef, useState, type KeyboardEvent } from 'react'
import { CardBoundary } from '../cards/boundary.tsx'
import { CallRow } from '../cards/call.tsx'
import type { SessionState } from '../state/items.ts'
import { toRows, type Row } from '../state/rows.ts'
import { t } from '../strings.ts'
import {
  EndRow,
  FactRow,
  ModelRow,
  NoticeRow,
  PromptRow,
  ProseRow,
  RetryRow,
  SummaryLine,
  ThoughtRow,
  type EndAction,
} from './rows.tsx'

const estimates: Record<Row['kind'], number> = {
  prompt: 68,
  prose: 64,
  thought: 28,
  call: 28,
  summary: 28,
  retry: 28,
  end: 40,
  notice: 28,
  model: 28,
  fact: 28,
}
/** Nearer than this to the end counts as reading the end. */
const endThreshold = 48

interface ListProps {
  readonly session: SessionState
  /** Ids of running calls that may go on in the background. */
  readonly promotable: ReadonlySet<string>
  readonly onPromote: (callId: string) => void
  readonly onAction: (action: EndAction, turn: number) => void
}

export function ChatList({ session, promotable, onPromote, onAction }: ListProps) {
  const [openTurns, setOpenTurns] = useState<ReadonlySet<number>>(new Set())
  const [opened, setOpened] = useState<ReadonlyMap<string, boolean>>(new Map())
  const [active, setActive] = useState<string>()
  const [leftAt, setLeftAt] = useState<number>()
  const scroller = useRef<HTMLDivElement>(null)
  const rows = useMemo(() => toRows(session, openTurns), [session, openTurns])

  // Note: the list follows its end from the moment rows are added to an empty one, so the first rows must come after the mount.
  const [mounted, setMounted] = useState(false)
  useLayoutEffect(() => setMounted(true), [])
  const virtual = useVirtualizer({
    count: mounted ? rows.length : 0,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => estimates[rows[index]?.kind ?? 'call'],
    getItemKey: (index) => rows[index]?.key ?? index,
    overscan: 10,
    paddingEnd: 24,
    anchorTo: 'end',
    followOnAppend: true,
    scrollEndThreshold: endThreshold,
  })

  const onToggle = useCallback((key: string, open: boolean) => {
    setActive(key)
    setOpened((before) => new Map(before).set(key, open))
  }, [])
  const onToggleTurn = useCallback((turn: number) => {
    setOpenTurns((before) => {
      const after = new Set(before)
      if (!after.delete(turn)) after.add(turn)
      return after
    })
  }, [])
  // A window that is made smaller, or a composer that grows, must not take the end out of sight.
  const atEnd = leftAt === undefined
  const wasAtEnd = useRef(atEnd)
  wasAtEnd.current = atEnd
  useLayoutEffect(() => {
    const box = scroller.current
    if (!box) return undefined
    let height = box.clientHeight
    let width = box.clientWidth
    const observer = new ResizeObserver(() => {
      const resized = box.clientHeight !== height || box.clientWidth !== width
      height = box.clientHeight
      width = box.clientWidth
      // The rows are measured anew first.
      if (resized && wasAtEnd.current)
        requestAnimationFrame(() => requestAnimationFrame(() => (box.scrollTop = box.scrollHeight)))
    })
    observer.observe(box)
    return () => observer.disconnect()
  }, [])
  const onScroll = (): void => {
    const box = scroller.current
    if (!box) return
    const nearEnd = box.scrollHeight - box.scrollTop - box.clientHeight <= endThreshold
    setLeftAt((before) => (nearEnd ? undefined : (before ?? rows.length)))
  }

  const tabStop =
    active ?? rows.findLast((row) => row.kind === 'call' || row.kind === 'summary' || row.kind === 'thought')?.key
  const fresh = leftAt === undefined ? 0 : Math.max(0, rows.length - leftAt)
  return (
    <div className="relative min-h-0 flex-1">
      <div
        ref={scroller}
        data-chat-list
        className="h-full overflow-x-hidden overflow-y-auto px-6 max-[759px]:px-4 [overflow-anchor:none] [scrollbar-gutter:stable_both-edges]"
        onScroll={onScroll}
        onKeyDown={moveInList}
        onFocus={(event) => setActive((event.target as HTMLElement).dataset['row'] ?? active)}
        role="log"
        aria-live="off"
        aria-label={session.title}
      >
        <div className="relative mx-auto max-w-[744px]" style={{ height: virtual.getTotalSize() }}>
          <div
            className="absolute inset-x-0 top-0"
            style={{ transform: `translateY(${virtual.getVirtualItems()[0]?.start ?? 0}px)` }}
          >
            {virtual.getVirtualItems().map(({ index, key }) => {
              const row = rows[index]
              if (!row) return null
              const toggle = { open: opened.get(row.key) ?? false, tabStop: row.key === tabStop, onToggle }
              return (
                <div
                  key={key}
                  ref={virtual.measureElement}
                  data-index={index}
                  className="flow-root"
                  data-kind={row.kind}
                  data-turn={row.turn}
                >
                  <CardBoundary>
                    {row.kind === 'call' && (
                      <CallRow
                        item={row}
                        cwd={session.cwd}
                        open={opened.get(row.key)}
                        lastTurn={row.turn === session.turn}
                        tabStop={row.key === tabStop}
                        onToggle={onToggle}
                        {...(promotable.has(row.callId) ? { onPromote } : {})}
                      />
                    )}
                    {row.kind === 'prose' && <ProseRow item={row} />}
                    {row.kind === 'thought' && <ThoughtRow item={row} {...toggle} />}
                    {row.kind === 'prompt' && <PromptRow item={row} />}
                    {row.kind === 'summary' && (
                      <SummaryLine item={row} tabStop={row.key === tabStop} onToggleTurn={onToggleTurn} />
                    )}
                    {row.kind === 'retry' && <RetryRow item={row} />}
                    {row.kind === 'end' && (
                      <EndRow
                        item={row}
                        actionable={row.turn === session.turn && !session.running}
                        onAction={onAction}
                      />
                    )}
                    {row.kind === 'notice' && <NoticeRow item={row} />}
                    {row.kind === 'model' && <ModelRow item={row} />}
                    {row.kind === 'fact' && <FactRow item={row} />}
                  </CardBoundary>
                </div>
              )
            })}
          </div>
        </div>
      </div>
      {leftAt !== undefined && (
        <button
          type="button"
          data-to-end
          className="absolute bottom-2 left-1/2 inline-flex h-7 -translate-x-1/2 items-center gap-1.5 rounded-full border border-line2 bg-raised px-3 text-meta text-ink2 shadow-menu hover:text-ink"
          onClick={() => virtual.scrollToEnd()}
        >
          <ArrowDown size={13} />
          {fresh > 0 ? t.newRows(fresh) : t.toEnd}
        </button>
      )}
    </div>
  )
}

/** Arrow keys inside the list; also called for J and K from anywhere. */
function moveInList(event: KeyboardEvent<HTMLElement>): void {
  const row = (event.target as HTMLElement).closest<HTMLElement>('[data-row]')
  if (!row || event.target !== row) return
  const moves: Record<string, () => void> = {
    ArrowDown: () => focusRow(1),
    ArrowUp: () => focusRow(-1),
    ArrowRight: () => row.ariaExpanded === 'false' && row.click(),
    ArrowLeft: () => row.ariaExpanded === 'true' && row.click(),
  }
  const move = Object.hasOwn(moves, event.key) ? moves[event.key] : undefined
  if (!move) return
  event.preventDefault()
  move()
}

/** Focuses the next (1) or previous (-1) row; from outside, the row that is the tab stop. */
export function focusRow(step: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>('[data-chat-list] [data-row]')]
  const at = rows.indexOf(document.activeElement as HTMLElement)
  const next = at < 0 ? (rows.find((row) => row.tabIndex === 0) ?? rows.at(-1)) : rows[at + step]
  next?.focus()
  next?.scrollIntoView({ block: 'nearest' })
}
