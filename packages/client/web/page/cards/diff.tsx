// The diff card: hunks with the numbers of both sides. Settled from the applied hunks; before that from what the call asks for.
import type { FileDiff } from '@deepseek-ai/dsh-tools'
import { countChanges, diffLines, type DiffLine } from '../state/diff-lines.ts'
import type { CallItem } from '../state/items.ts'
import { t } from '../strings.ts'
import { ErrorBand, failureText, beyondMessage } from './generic.tsx'
import { cutLine, Lines, TextLines } from './lines.tsx'
import type { Card } from './registry.tsx'

/** A line of a file, or the gap between two hunks. */
type Shown = DiffLine | { readonly gap: string }

interface FileLines {
  readonly path: string
  readonly shown: readonly Shown[]
  readonly added: number
  readonly removed: number
}

function diffsOf(item: CallItem): readonly FileDiff[] {
  if (item.resultView?.card === 'diff') return item.resultView.diffs
  return item.callView?.card === 'diff' ? item.callView.diffs : []
}

/** Large diffs are compared once for the body, the receipts and Copy. */
const compared = new WeakMap<CallItem, FileLines[]>()

function filesOf(item: CallItem): FileLines[] {
  const known = compared.get(item)
  if (known) return known
  const byPath = new Map<string, FileDiff[]>()
  for (const diff of diffsOf(item)) byPath.set(diff.path, [...(byPath.get(diff.path) ?? []), diff])
  const files = Array.from(byPath, ([path, diffs]) => fileLines(path, diffs))
  compared.set(item, files)
  return files
}

function fileLines(path: string, diffs: readonly FileDiff[]): FileLines {
  const shown: Shown[] = []
  let [added, removed, end] = [0, 0, 0]
  for (const diff of diffs) {
    const lines = diffLines(diff)
    const start = diff.oldStart ?? 1
    if (diffs.length > 1 || start > 1) {
      const unchanged = start - 1 - end
      if (unchanged > 0) shown.push({ gap: t.unchangedLines(unchanged) })
    }
    shown.push(...lines)
    const counts = countChanges(lines)
    added += counts.added
    removed += counts.removed
    end = start - 1 + lines.filter(({ sign }) => sign !== '+').length
  }
  return { path, shown, added, removed }
}

const ground = { '+': 'diff-add', '-': 'diff-del', ' ': '' } as const

function Line({ line }: { line: Shown | undefined }) {
  if (!line) return null
  if ('gap' in line) return <span className="text-ink3">{line.gap}</span>
  const { shown, rest } = cutLine(line.text)
  return (
    <span className={`-mx-3 block px-3 ${ground[line.sign]}`}>
      <span className="diff-number">{line.oldNumber ?? ''}</span>
      <span className="diff-number">{line.newNumber ?? ''}</span>
      <span className="inline-block w-4 select-none text-ink3">{line.sign}</span>
      {shown}
      {rest && <span className="text-ink3">{rest}</span>}
    </span>
  )
}

/** The lines of one comparison, as the card shows them. */
export function DiffLines({ lines, label }: { lines: readonly DiffLine[]; label: string }) {
  return <Lines count={lines.length} label={label} line={(index) => <Line line={lines[index]} />} />
}

function Body({ item }: { item: CallItem }) {
  const failure = failureText(item)
  const more = failure ? beyondMessage(item) : ''
  return (
    <>
      {failure && <ErrorBand text={failure} />}
      {more !== '' && <TextLines text={more} label={t.result} />}
      {filesOf(item).map(({ path, shown }) => (
        <div key={path} className="border-b border-line last:border-b-0">
          <div className="truncate bg-sunken px-3 py-1 font-mono text-mono text-ink2" title={path}>
            {path}
          </div>
          <Lines count={shown.length} label={path} line={(index) => <Line line={shown[index]} />} />
        </div>
      ))}
    </>
  )
}

export const diff: Card = {
  Body,
  receipts(item) {
    const files = filesOf(item)
    const added = files.reduce((sum, file) => sum + file.added, 0)
    const removed = files.reduce((sum, file) => sum + file.removed, 0)
    const remarks = item.resultView?.card === 'diff' ? (item.resultView.remarks ?? []) : []
    const delta = files.length === 0 ? [] : [t.lineDelta(added, removed)]
    return [...(item.outcome?.isError === true ? [t.notApplied] : []), ...delta, ...remarks]
  },
  copyText: (item) =>
    filesOf(item)
      .flatMap(({ path, shown }) => [path, ...shown.map((line) => ('gap' in line ? line.gap : line.sign + line.text))])
      .join('\n'),
}
