// The rows of a chat that are not calls: prompts, thoughts, prose, summaries, retries, ends and notices.
import { contentText } from '@deepseek-ai/dsh-tools/presentation'
import {
  ChevronRight,
  CircleAlert,
  Cog,
  Cpu,
  Info,
  ListCollapse,
  MessageCircleQuestion,
  Puzzle,
  RotateCw,
  Shield,
  ShieldCheck,
  Sparkle,
  Square,
  Unplug,
} from 'lucide-react'
import { memo, type ReactNode } from 'react'
import { GlyphBox } from '../cards/glyph.tsx'
import { formatClock, formatDuration } from '../format.ts'
import { Markdown } from '../markdown/markdown.tsx'
import type { EndItem, FactItem, ModelItem, NoticeItem, PromptItem, RetryItem, TextItem } from '../state/items.ts'
import type { SummaryRow } from '../state/rows.ts'
import { t } from '../strings.ts'

export interface Toggle {
  readonly open: boolean
  readonly tabStop: boolean
  readonly onToggle: (key: string, open: boolean) => void
}

export const PromptRow = memo(({ item }: { item: PromptItem }) => {
  const { source } = item.message
  const text = contentText(item.message.content)
  if (source.kind !== 'user') {
    const who = source.kind === 'plugin' ? source.plugin : source.callId
    return (
      <Fact icon={<Puzzle size={14} />} verb={t.context(who)}>
        <span title={text}>{text}</span>
      </Fact>
    )
  }
  return (
    <div className="pt-5 pb-2.5">
      <div className="-mx-2 flex gap-2 rounded-card bg-you px-2 py-2">
        <span className="grid h-[22px] w-5 flex-none place-items-center text-accent" aria-hidden="true">
          <ChevronRight size={14} strokeWidth={2.5} />
        </span>
        <span className="sr-only">{t.you}</span>
        <div className="min-w-0 whitespace-pre-wrap break-words text-prose">{text}</div>
      </div>
    </div>
  )
})

export const ThoughtRow = memo(({ item, open, tabStop, onToggle }: { item: TextItem } & Toggle) => {
  const line = item.text.trim().replaceAll(/\s+/g, ' ')
  return (
    <>
      <button
        type="button"
        className="row text-ink3"
        data-row={item.key}
        tabIndex={tabStop ? 0 : -1}
        aria-expanded={open}
        onClick={() => onToggle(item.key, !open)}
      >
        <GlyphBox>
          <Sparkle size={14} />
        </GlyphBox>
        <span className="flex-none">{item.live ? t.thinking : t.thought}</span>
        {!open && <span className="min-w-0 truncate">{item.live ? line.slice(-160) : line.slice(0, 300)}</span>}
      </button>
      {open && (
        <div className="ml-7 max-h-[420px] overflow-auto border-l border-line pl-3 pb-1 whitespace-pre-wrap break-words text-ink2">
          {item.text.trim()}
        </div>
      )}
    </>
  )
})

export const ProseRow = memo(({ item }: { item: TextItem }) => (
  <div className="py-2.5 pl-7">
    <Markdown text={item.text} live={item.live} />
  </div>
))

export const SummaryLine = memo(
  ({ item, tabStop, onToggleTurn }: { item: SummaryRow; tabStop: boolean; onToggleTurn: (turn: number) => void }) => (
    <button
      type="button"
      className="row text-ink3"
      data-row={item.key}
      tabIndex={tabStop ? 0 : -1}
      aria-expanded={item.open}
      onClick={() => onToggleTurn(item.turn)}
    >
      <GlyphBox>
        <ListCollapse size={14} />
      </GlyphBox>
      <span className="tabular-nums">{item.text}</span>
    </button>
  ),
)

function Fact({
  icon,
  verb,
  children,
  tone = 'text-ink3',
}: {
  icon: ReactNode
  verb?: string
  children?: ReactNode
  tone?: string
}) {
  return (
    <div className={`row row-static py-1 ${tone}`}>
      <GlyphBox fixed>{icon}</GlyphBox>
      {verb && <span className="flex-none">{verb}</span>}
      <span className="min-w-0 truncate text-ink3">{children}</span>
    </div>
  )
}

export const RetryRow = memo(({ item }: { item: RetryItem }) => (
  <div className="row row-static py-1 text-warn">
    <GlyphBox fixed>
      <RotateCw size={13} className="text-warn" />
    </GlyphBox>
    <span className="flex-none">{t.retrying(item.attempt + 1, formatDuration(item.delayMs))}</span>
    <span className="min-w-0 truncate text-ink3" title={item.failure.message}>
      {item.failure.message}
    </span>
    <span className="ml-auto flex-none text-meta">{item.failure.code}</span>
  </div>
))

export const NoticeRow = memo(({ item }: { item: NoticeItem }) => (
  <div className="row row-static items-start py-1 text-warn">
    <GlyphBox fixed>
      <Info size={14} className="mt-[3px] text-warn" />
    </GlyphBox>
    <span className="min-w-0 break-words">{item.message}</span>
    <span className="ml-auto flex-none pl-2 text-meta text-ink3">{item.code}</span>
  </div>
))

export const ModelRow = memo(({ item }: { item: ModelItem }) => (
  <Fact icon={<Cpu size={14} />}>{t.modelChanged(item.model.model)}</Fact>
))

const factIcons: Record<FactItem['about'], typeof Cog> = {
  approval: ShieldCheck,
  permission: Shield,
  job: Cog,
  question: MessageCircleQuestion,
}

export const FactRow = memo(({ item }: { item: FactItem }) => {
  const Icon = factIcons[item.about]
  return (
    <Fact icon={<Icon size={14} />}>
      <span title={item.detail}>
        {item.text}
        {item.detail !== undefined && <span className="font-mono text-mono"> {item.detail}</span>}
        <span className="text-ink3"> · {formatClock(item.at)}</span>
      </span>
    </Fact>
  )
})

export type EndAction = 'set-key' | 'choose-model' | 'new-session' | 'again'

const actionOf: Record<string, EndAction> = {
  MISSING_CREDENTIAL: 'set-key',
  AUTH: 'set-key',
  QUOTA: 'set-key',
  UNKNOWN_MODEL: 'choose-model',
  NO_ADAPTER: 'choose-model',
  CONTEXT_WINDOW_EXCEEDED: 'new-session',
}
const actionLabel: Record<EndAction, string> = {
  'set-key': t.setKey,
  'choose-model': t.chooseAnother,
  'new-session': t.newSessionAction,
  again: t.tryAgain,
}

interface EndProps {
  readonly item: EndItem
  /** Actions make sense for the newest turn only. */
  readonly actionable: boolean
  readonly onAction: (action: EndAction, turn: number) => void
}

function ActionButton({ action, turn, onAction }: { action: EndAction; turn: number; onAction: EndProps['onAction'] }) {
  return (
    <button type="button" className="button flex-none" onClick={() => onAction(action, turn)}>
      {actionLabel[action]}
    </button>
  )
}

export const EndRow = memo(({ item, actionable, onAction }: EndProps) => {
  const { reason, turn } = item
  if (reason.kind === 'error') {
    const { code, message, status } = reason.error
    const action = Object.hasOwn(actionOf, code) ? (actionOf[code] ?? 'again') : 'again'
    return (
      <div className="-mx-2 my-2 flex flex-wrap items-center gap-x-3 gap-y-2 rounded-card bg-errw p-2" role="alert">
        <span className="flex min-w-0 flex-1 basis-60 gap-2">
          <GlyphBox fixed>
            <CircleAlert size={14} className="text-err" />
          </GlyphBox>
          <span className="min-w-0 break-words">
            <span className="font-medium text-err">{status === undefined ? code : `${code} ${status}`}</span>{' '}
            <span className="text-ink2">{message}</span>
          </span>
        </span>
        {actionable && (
          <span className="flex gap-2 max-[759px]:pl-7">
            <ActionButton action={action} turn={turn} onAction={onAction} />
            {action !== 'again' && action !== 'new-session' && (
              <ActionButton action="again" turn={turn} onAction={onAction} />
            )}
          </span>
        )}
      </div>
    )
  }
  const text =
    reason.kind === 'aborted'
      ? t.ended.aborted(reason.cause)
      : reason.kind === 'interrupted'
        ? t.ended.interrupted
        : reason.kind === 'max-tokens'
          ? t.ended.maxTokens
          : ''
  if (text === '') return null
  const icon = reason.kind === 'interrupted' ? <Unplug size={14} className="text-warn" /> : <Square size={12} />
  return (
    <div className={`row row-static py-1 ${reason.kind === 'interrupted' ? 'text-warn' : 'text-ink3'}`}>
      <GlyphBox fixed>{icon}</GlyphBox>
      <span className="min-w-0 break-words">{text}</span>
      {actionable && reason.kind === 'interrupted' && (
        <span className="ml-auto">
          <ActionButton action="again" turn={turn} onAction={onAction} />
        </span>
      )}
    </div>
  )
})
