// The terminal card: the command, its output with colours, live or settled through the same renderer.
import { ansiLines, ansiSpans, plainText, type AnsiLine } from '../ansi.ts'
import { t } from '../strings.ts'
import { cutLine, Lines } from './lines.tsx'
import { terminalFacts } from '../state/outcome.ts'
import type { CallItem } from '../state/items.ts'
import type { Card } from './registry.tsx'
import { beyondMessage, ErrorBand, failureText } from './generic.tsx'

/** Lines of live output that show. */
const liveLines = 12

function AnsiText({ line }: { line: AnsiLine | undefined }) {
  if (!line) return null
  const { shown, rest } = cutLine(line.text)
  return (
    <>
      {ansiSpans({ carry: line.carry, text: shown }).map((span, index) => (
        <span key={index} className={span.className} style={{ color: span.color, backgroundColor: span.background }}>
          {span.text}
        </span>
      ))}
      {rest && <span className="text-ink3">{rest}</span>}
    </>
  )
}

function outputOf(item: CallItem): string {
  if (item.resultView?.card === 'terminal') return item.resultView.output ?? ''
  return item.outcome ? beyondMessage(item) : item.output
}

/** Output may be megabytes: indexed once for the body, the receipts and Copy. */
const indexed = new WeakMap<CallItem, AnsiLine[]>()

function linesOf(item: CallItem): AnsiLine[] {
  const known = indexed.get(item)
  if (known) return known
  const lines = ansiLines(outputOf(item))
  indexed.set(item, lines)
  return lines
}

function commandOf(item: CallItem): string {
  return item.callView?.title ?? item.resultView?.title ?? ''
}

function Body({ item }: { item: CallItem }) {
  const running = item.phase !== 'done'
  const lines = linesOf(item)
  const skipped = running ? Math.max(0, lines.length - liveLines) : 0
  const failure = failureText(item)
  return (
    <>
      <div
        className="code-lines max-h-[126px] overflow-auto border-b border-line bg-sunken px-3 py-1.5"
        tabIndex={0}
        role="region"
        aria-label={t.arguments}
      >
        <span className="select-none text-ink3">$ </span>
        <span className="whitespace-pre-wrap break-words">{commandOf(item)}</span>
      </div>
      {failure && <ErrorBand text={failure} />}
      {skipped > 0 && <div className="px-3 pt-2 text-meta text-ink3">{t.earlier(skipped)}</div>}
      {lines.length > 0 ? (
        <Lines
          count={lines.length - skipped}
          label={t.result}
          line={(index) => <AnsiText line={lines[index + skipped]} />}
        />
      ) : (
        !failure && <div className="px-3 py-2 text-meta text-ink3">{running ? t.noOutputYet : t.noOutput}</div>
      )}
      <Remarks item={item} />
    </>
  )
}

/** Sentences of the host on the result: what was denied and by which rule, where the whole output is. */
function Remarks({ item }: { item: CallItem }) {
  const remarks = item.resultView?.card === 'terminal' ? (item.resultView.remarks ?? []) : []
  if (remarks.length === 0) return null
  return (
    <ul className="border-t border-line px-3 py-1.5 text-meta text-ink2" aria-label={t.remarks}>
      {remarks.map((remark, index) => (
        <li key={index} className="break-words">
          {remark}
        </li>
      ))}
    </ul>
  )
}

export const terminal: Card = {
  Body,
  receipts(item) {
    const count = item.phase === 'done' ? linesOf(item).length : 0
    return [...terminalFacts(item), ...(count > 0 ? [t.lines(count)] : [])]
  },
  copyText: (item) => linesOf(item).map(plainText).join('\n'),
}
