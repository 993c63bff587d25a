// One call: a 28 px row that says what it did, and behind it the box with its card, receipts, Copy and Raw.
import { memo, useState } from 'react'
import { formatElapsed } from '../format.ts'
import { CopyButton } from '../markdown/code.tsx'
import type { CallItem } from '../state/items.ts'
import { readCall, timeOf, type CallReading } from '../state/outcome.ts'
import { t } from '../strings.ts'
import { useCopy, useNow } from '../ui.ts'
import { CardBoundary } from './boundary.tsx'
import { describeCall, type CallLine } from './describe.ts'
import { Glyph } from './glyph.tsx'
import { TextLines } from './lines.tsx'
import { cardOf } from './registry.tsx'

const toneClass: Record<CallReading['tone'], string> = { ink3: 'text-ink3', err: 'text-err', warn: 'text-warn' }

export interface CallRowProps {
  readonly item: CallItem
  readonly cwd: string
  readonly open: boolean | undefined
  readonly lastTurn: boolean
  readonly tabStop: boolean
  readonly onToggle: (key: string, open: boolean) => void
  /** Present while the call may go on in the background. */
  readonly onPromote?: (callId: string) => void
}

/** Output that lives shorter than this does not open its card: quick commands must not flash. */
const showLiveAfterMs = 1000

export const CallRow = memo((props: CallRowProps) => {
  const { item } = props
  const running = item.phase === 'running'
  const now = useNow(running)
  const { copied, copy } = useCopy()
  const reading = readCall(item)
  const { verb, target, where, kind } = safely<CallLine>(() => describeCall(item, props.cwd), {
    verb: item.name,
    target: '',
    where: '',
    kind: 'other',
  })
  const elapsed = item.startedAt === undefined ? 0 : Math.max(0, now - item.startedAt)
  const eager = running
    ? (item.output !== '' || item.calls !== undefined) && elapsed > showLiveAfterMs
    : props.lastTurn && (reading.state === 'bad' || reading.state === 'failed')
  const open = props.open ?? eager
  return (
    <div data-call={item.callId} data-state={reading.state}>
      <button
        type="button"
        className="row"
        data-row={item.key}
        tabIndex={props.tabStop ? 0 : -1}
        aria-expanded={open}
        onClick={() => props.onToggle(item.key, !open)}
        onKeyDown={(event) => {
          if (event.key === 'c' && !event.metaKey && !event.ctrlKey) copy(copyTextOf(item))
        }}
      >
        <Glyph state={reading.state} kind={kind} />
        <span className={`flex-none font-medium ${reading.state === 'pending' ? 'text-ink3' : 'text-ink2'}`}>
          {verb}
        </span>
        <span
          className={`min-w-0 truncate font-mono text-mono ${reading.state === 'pending' ? 'text-ink3' : 'text-ink2'}`}
          title={target}
        >
          {target}
        </span>
        <span className="min-w-0 shrink-[3] truncate font-mono text-mono text-ink3 max-[759px]:hidden">{where}</span>
        <span
          className={`ml-auto flex-none truncate pl-2 text-meta tabular-nums max-[759px]:max-w-28 ${toneClass[reading.tone]}`}
        >
          {copied ? t.copied : reading.receipt}
        </span>
        <span className="w-[52px] flex-none text-right text-meta tabular-nums text-ink3">
          {running ? formatElapsed(elapsed) : timeOf(item)}
        </span>
        <span className="sr-only">{reading.state}</span>
      </button>
      {open && <CallBox item={item} tone={reading.tone} onPromote={props.onPromote} />}
    </div>
  )
})

interface CallBoxProps {
  readonly item: CallItem
  readonly tone: CallReading['tone']
  readonly onPromote: ((callId: string) => void) | undefined
}

function CallBox({ item, tone, onPromote }: CallBoxProps) {
  const [raw, setRaw] = useState(false)
  const { card, unknownKind } = cardOf(item)
  const { Body } = card
  const rawText = raw ? JSON.stringify(rawOf(item), undefined, 2) : ''
  const receipts = safely(() => card.receipts(item), [])
  return (
    <div className="box">
      {raw ? (
        <TextLines text={rawText} label={t.raw} />
      ) : (
        <CardBoundary onRaw={() => setRaw(true)}>
          <Body item={item} />
        </CardBoundary>
      )}
      {item.calls !== undefined && !raw && <NestedCalls calls={item.calls} count={item.callCount ?? 0} />}
      {unknownKind !== undefined && <div className="px-3 pb-1.5 text-meta text-ink3">{t.unknownView(unknownKind)}</div>}
      <div className="flex h-7 items-center gap-1 border-t border-line px-3 text-meta text-ink3 pointer-coarse:h-10">
        <span className="min-w-0 truncate tabular-nums">
          {receipts.map((receipt, index) => (
            <span key={index} className={index === 0 && tone === 'err' ? 'text-err' : ''}>
              {index > 0 && <span className="px-1.5 text-ink3">·</span>}
              {receipt}
            </span>
          ))}
        </span>
        <span className="ml-auto flex flex-none items-center gap-1">
          {onPromote && item.phase === 'running' && (
            <button
              type="button"
              className="h-6 rounded-control px-1.5 hover:bg-hover hover:text-ink"
              onClick={() => onPromote(item.callId)}
            >
              {t.toBackground}
            </button>
          )}
          <CopyButton text={() => (raw ? rawText : copyTextOf(item))} label />
          <button
            type="button"
            className="h-6 rounded-control px-1.5 hover:bg-hover hover:text-ink"
            aria-pressed={raw}
            onClick={() => setRaw(!raw)}
          >
            {t.raw}
          </button>
        </span>
      </div>
    </div>
  )
}

/** The calls of a program, as rows of their own; what the state does not keep of many is counted. */
function NestedCalls({ calls, count }: { calls: readonly CallItem[]; count: number }) {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set())
  const toggle = (key: string, opened: boolean): void =>
    setOpen((known) => {
      const next = new Set(known)
      if (opened) next.add(key)
      else next.delete(key)
      return next
    })
  return (
    <div className="border-t border-line px-3 py-1" role="group" aria-label={t.programCalls(count)}>
      {calls.map((call) => (
        <CallRow
          key={call.key}
          item={call}
          cwd=""
          open={open.has(call.key)}
          lastTurn={false}
          tabStop
          onToggle={toggle}
        />
      ))}
      {count > calls.length && <div className="text-meta text-ink3">{t.moreCalls(count - calls.length)}</div>}
    </div>
  )
}

const copyTextOf = (item: CallItem): string => safely(() => cardOf(item).card.copyText(item), '')

function rawOf(item: CallItem): object {
  const { callId, name, arguments: args, callView, resultView, outcome } = item
  return { callId, name, arguments: args, call: callView, result: resultView, outcome }
}

/** A card's facts come from data of any age: a card that cannot read it must not take the row down. */
function safely<T>(read: () => T, otherwise: T): T {
  try {
    return read()
  } catch {
    // The body shows the failure; the footer does without.
    return otherwise
  }
}
