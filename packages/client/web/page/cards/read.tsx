// The read card: lines of a file with their numbers, coloured when the language is known.
import { useEffect, useMemo, useState } from 'react'
import type { Token } from '../markdown/highlight.ts'
import type { CallItem } from '../state/items.ts'
import { t } from '../strings.ts'
import { generic } from './generic.tsx'
import { cutLine, Lines } from './lines.tsx'
import type { Card } from './registry.tsx'

/** Colouring more than this at once would be felt. */
const mostColoured = 200_000

export function useHighlight(code: string, language: string | undefined): Token[][] | undefined {
  const [tokens, setTokens] = useState<Token[][]>()
  useEffect(() => {
    let over = false
    setTokens(undefined)
    if (language === undefined || code.length > mostColoured) return undefined
    void import('../markdown/highlight.ts').then(({ highlightLines }) => {
      if (!over) setTokens(highlightLines(code, language))
    })
    return () => {
      over = true
    }
  }, [code, language])
  return tokens
}

export interface NumberedLine {
  readonly number: number
  readonly text: string
}

interface CodeLinesProps {
  readonly lines: readonly NumberedLine[]
  readonly lang: string | undefined
  readonly label: string
}

export function CodeLines({ lines, lang, label }: CodeLinesProps) {
  const code = useMemo(() => lines.map(({ text }) => text).join('\n'), [lines])
  const tokens = useHighlight(code, lang)
  return (
    <Lines
      count={lines.length}
      label={label}
      line={(index) => {
        const line = lines[index]
        if (!line) return null
        const { shown, rest } = cutLine(line.text)
        return (
          <>
            <span className="diff-number">{line.number}</span>
            {tokens?.[index] && rest === ''
              ? tokens[index].map(({ text, className }, at) => (
                  <span key={at} className={className}>
                    {text}
                  </span>
                ))
              : shown}
            {rest && <span className="text-ink3">{rest}</span>}
          </>
        )
      }}
    />
  )
}

function Body({ item }: { item: CallItem }) {
  const view = item.resultView
  if (view?.card !== 'read') return <generic.Body item={item} />
  if (view.lines.length === 0) return <div className="px-3 py-2 text-meta text-ink3">{t.emptyFile}</div>
  return <CodeLines lines={view.lines} lang={view.lang} label={view.path} />
}

export const read: Card = {
  Body,
  receipts(item) {
    const view = item.resultView
    if (view?.card !== 'read') return []
    const more = view.totalLines - view.lines.length
    return [...(view.remarks ?? []), ...(more > 0 ? [t.moreLines(more)] : [t.lines(view.totalLines)])]
  },
  copyText(item) {
    const view = item.resultView
    return view?.card === 'read' ? view.lines.map(({ text }) => text).join('\n') : generic.copyText(item)
  },
}
