// Lines of code or output in a box: at most 420 px until asked, and only the lines that show are in the page.
import { useVirtualizer } from '@tanstack/react-virtual'
import { useRef, useState, type ReactNode } from 'react'
import { t } from '../strings.ts'

const lineHeight = 18
const cap = 420
/** A line longer than this is cut for the eye; Copy and Raw give it whole. */
const longestLine = 5000

export function cutLine(text: string): { shown: string; rest: string } {
  if (text.length <= longestLine) return { shown: text, rest: '' }
  return { shown: text.slice(0, longestLine), rest: t.moreCharacters(text.length - longestLine) }
}

interface LinesProps {
  readonly count: number
  readonly line: (index: number) => ReactNode
  readonly label: string
}

export function Lines({ count, line, label }: LinesProps) {
  const [whole, setWhole] = useState(false)
  const box = useRef<HTMLDivElement>(null)
  const long = count * lineHeight > cap
  const virtual = useVirtualizer({
    count,
    getScrollElement: () => box.current,
    estimateSize: () => lineHeight,
    overscan: 12,
    enabled: long,
    initialRect: { width: 0, height: cap },
  })
  const shown = long ? virtual.getVirtualItems() : []
  const maxHeight = long && !whole ? cap : 'min(80vh, 1200px)'
  return (
    <>
      <div
        ref={box}
        className="code-lines overflow-auto px-3 py-2"
        style={{ maxHeight }}
        tabIndex={0}
        role="region"
        aria-label={label}
      >
        {long ? (
          <div style={{ height: virtual.getTotalSize(), minWidth: 'max-content' }}>
            <div style={{ transform: `translateY(${shown[0]?.start ?? 0}px)` }}>
              {shown.map(({ index }) => (
                <div key={index} className="h-[18px]">
                  {line(index)}
                </div>
              ))}
            </div>
          </div>
        ) : (
          <div className="min-w-max">
            {Array.from({ length: count }, (_, index) => (
              <div key={index} className="min-h-[18px]">
                {line(index)}
              </div>
            ))}
          </div>
        )}
      </div>
      {long && (
        <button
          type="button"
          className="block w-full h-7 px-3 text-left text-meta text-ink3 border-t border-line hover:bg-hover"
          onClick={() => setWhole(!whole)}
        >
          {whole ? t.showLess : t.showAll(count)}
        </button>
      )}
    </>
  )
}

export function TextLines({ text, label }: { text: string; label: string }) {
  const lines = text.replace(/\n$/, '').split('\n')
  return (
    <Lines
      count={lines.length}
      label={label}
      line={(index) => {
        const { shown, rest } = cutLine(lines[index] ?? '')
        return (
          <>
            {shown}
            {rest && <span className="text-ink3">{rest}</span>}
          </>
        )
      }}
    />
  )
}
