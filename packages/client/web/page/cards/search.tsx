// The search card: hits by file, or a list of files. A file opens at the line that is clicked.
import type { SearchMatch, SearchResultView } from '@deepseek-ai/dsh-tools'
import { openFile } from '../state/open-file.ts'
import type { CallItem } from '../state/items.ts'
import { t } from '../strings.ts'
import { generic } from './generic.tsx'
import { cutLine, Lines } from './lines.tsx'
import type { Card } from './registry.tsx'

type Shown =
  | { readonly kind: 'file'; readonly path: string; readonly count: number }
  | { readonly kind: 'match'; readonly path: string; readonly match: SearchMatch }
  | { readonly kind: 'path'; readonly path: string }

const listed = new WeakMap<SearchResultView, Shown[]>()

function shownOf(view: SearchResultView): Shown[] {
  const known = listed.get(view)
  if (known) return known
  const shown: Shown[] =
    view.shape === 'paths'
      ? view.paths.map((path) => ({ kind: 'path', path }))
      : view.files.flatMap(({ path, matches }): Shown[] => [
          { kind: 'file', path, count: matches.filter(({ context }) => context !== true).length },
          ...matches.map((match): Shown => ({ kind: 'match', path, match })),
        ])
  listed.set(view, shown)
  return shown
}

function Line({ shown }: { shown: Shown | undefined }) {
  if (!shown) return null
  if (shown.kind === 'match') {
    const { path, match } = shown
    return (
      <button type="button" className="search-line" onClick={() => openFile({ path, line: match.lineNumber })}>
        <span className="diff-number">{match.lineNumber}</span>
        <Marked match={match} />
      </button>
    )
  }
  return (
    <button type="button" className="search-line" onClick={() => openFile({ path: shown.path })}>
      <span className={shown.kind === 'file' ? 'font-medium text-ink2' : ''}>{shown.path}</span>
      {shown.kind === 'file' && <span className="pl-2 text-ink3">{shown.count}</span>}
    </button>
  )
}

function Marked({ match: { line, ranges = [], context } }: { match: SearchMatch }) {
  const { shown, rest } = cutLine(line)
  const parts: React.ReactNode[] = []
  let end = 0
  for (const [from, to] of ranges) {
    if (from < end || to > shown.length || to <= from) continue
    parts.push(shown.slice(end, from), <mark key={from}>{shown.slice(from, to)}</mark>)
    end = to
  }
  parts.push(shown.slice(end))
  return (
    <span className={context === true ? 'text-ink3' : ''}>
      {parts}
      {rest && <span className="text-ink3">{rest}</span>}
    </span>
  )
}

function Body({ item }: { item: CallItem }) {
  const view = item.resultView
  if (view?.card !== 'search') return <generic.Body item={item} />
  const shown = shownOf(view)
  const remarks = view.remarks ?? []
  return (
    <>
      {shown.length === 0 ? (
        <div className="px-3 py-2 text-meta text-ink3">{t.nothingFound}</div>
      ) : (
        <Lines count={shown.length} label={t.result} line={(index) => <Line shown={shown[index]} />} />
      )}
      {remarks.length > 0 && (
        <ul className="border-t border-line px-3 py-1.5 text-meta text-ink2" aria-label={t.remarks}>
          {remarks.map((remark, index) => (
            <li key={index} className="break-words">
              {remark}
            </li>
          ))}
        </ul>
      )}
    </>
  )
}

export const search: Card = {
  Body,
  receipts(item) {
    const view = item.resultView
    if (view?.card !== 'search') return []
    return [...(view.notes ?? []), view.shape === 'paths' ? t.files(view.total) : t.hits(view.total)]
  },
  copyText(item) {
    const view = item.resultView
    if (view?.card !== 'search') return generic.copyText(item)
    return shownOf(view)
      .map((each) => (each.kind === 'match' ? `${each.match.lineNumber}: ${each.match.line}` : each.path))
      .join('\n')
  },
}
