// A block of code in prose: scrolls inside itself, copies, and gets its colours once it is complete.
import { Check, Copy } from 'lucide-react'
import { useEffect, useState } from 'react'
import { t } from '../strings.ts'
import { useCopy } from '../ui.ts'
import type { Token } from './highlight.ts'

/** Above this, colours cost more than they tell. */
const highlightLimit = 300

export function useHighlight(code: string, language: string, complete: boolean): Token[][] | undefined {
  const [lines, setLines] = useState<Token[][]>()
  useEffect(() => {
    setLines(undefined)
    if (!complete || language === '' || code.split('\n').length > highlightLimit) return undefined
    let current = true
    void import('./highlight.ts').then(
      ({ highlightLines }) => current && setLines(highlightLines(code, language)),
      // Offline the chunk may not load: the code stays plain.
      () => undefined,
    )
    return () => {
      current = false
    }
  }, [code, language, complete])
  return lines
}

export function CopyButton({ text, label = false }: { text: () => string; label?: boolean }) {
  const { copied, copy } = useCopy()
  const Icon = copied ? Check : Copy
  return (
    <button
      type="button"
      className="inline-flex items-center gap-1.5 rounded-control px-1.5 h-6 text-ink3 hover:text-ink hover:bg-hover"
      aria-label={copied ? t.copied : t.copy}
      onClick={() => copy(text())}
    >
      <Icon size={13} />
      {label && <span className="max-[759px]:hidden">{copied ? t.copied : t.copy}</span>}
    </button>
  )
}

export function CodeBlock({ code, language, complete }: { code: string; language: string; complete: boolean }) {
  const lines = useHighlight(code, language, complete)
  return (
    <div className="group relative rounded-card border border-line bg-sunken">
      <pre className="code-lines overflow-x-auto px-3 py-2.5" tabIndex={0} aria-label={language || 'code'}>
        <code>
          {lines
            ? lines.map((tokens, line) => (
                <span key={line}>
                  {tokens.map((token, index) => (
                    <span key={index} className={token.className}>
                      {token.text}
                    </span>
                  ))}
                  {line < lines.length - 1 && '\n'}
                </span>
              ))
            : code}
        </code>
      </pre>
      <div className="absolute right-1.5 top-1.5 rounded-control bg-sunken opacity-0 group-hover:opacity-100 group-focus-within:opacity-100 pointer-coarse:opacity-100">
        <CopyButton text={() => code} />
      </div>
    </div>
  )
}
