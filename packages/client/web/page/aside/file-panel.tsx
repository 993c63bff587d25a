// A file beside the session: the lines around the place that was asked for, more on demand.
import { Dialog } from 'radix-ui'
import { X } from 'lucide-react'
import { useEffect, useState, useSyncExternalStore } from 'react'
import { call, messageOf } from '../api.ts'
import { CodeLines, type NumberedLine } from '../cards/read.tsx'
import { openedFile, openFile, type FilePlace } from '../state/open-file.ts'
import { t } from '../strings.ts'

/** Lines before the one that was asked for, so that it is not the first. */
const before = 8
const pageLines = 400

export function FilePanel({ sessionId }: { sessionId: string }) {
  const place = useSyncExternalStore(openedFile.subscribe, openedFile.snapshot)
  useEffect(() => () => openFile(undefined), [sessionId])
  return (
    <Dialog.Root open={place !== undefined} onOpenChange={(open) => open || openFile(undefined)}>
      <Dialog.Portal>
        <Dialog.Overlay className="overlay" />
        <Dialog.Content
          className="dialog flex max-h-[85vh] w-[min(960px,94vw)] flex-col p-0"
          aria-describedby={undefined}
        >
          {place && <File key={`${place.path}:${place.line ?? 0}`} sessionId={sessionId} place={place} />}
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

interface Loaded {
  readonly path: string
  readonly lines: readonly NumberedLine[]
  readonly totalLines: number
  readonly complete: boolean
}

function File({ sessionId, place }: { sessionId: string; place: FilePlace }) {
  const [offset, setOffset] = useState(Math.max(1, (place.line ?? 1) - before))
  const [loaded, setLoaded] = useState<Loaded>()
  const [problem, setProblem] = useState<string>()
  useEffect(() => {
    let over = false
    const params = { id: sessionId, path: place.path, offset, count: pageLines }
    call('files.lines', params).then(
      (value) => over || setLoaded(value),
      (error: unknown) => over || setProblem(messageOf(error)),
    )
    return () => {
      over = true
    }
  }, [sessionId, place.path, offset])
  const last = loaded?.lines.at(-1)?.number ?? 0
  return (
    <>
      <header className="flex h-10 flex-none items-center gap-2 border-b border-line px-3">
        <Dialog.Title className="min-w-0 truncate font-mono text-mono">{loaded?.path ?? place.path}</Dialog.Title>
        {place.line !== undefined && <span className="flex-none text-meta text-ink3">{t.line(place.line)}</span>}
        <Dialog.Close className="icon-button ml-auto flex-none" aria-label={t.close}>
          <X size={14} />
        </Dialog.Close>
      </header>
      <div className="min-h-0 flex-1 overflow-auto" data-file={place.path} data-line={place.line}>
        {problem !== undefined && <div className="bg-errw px-3 py-2 text-err">{problem}</div>}
        {loaded && <CodeLines lines={loaded.lines} lang={languageOf(loaded.path)} label={loaded.path} />}
      </div>
      {loaded && (offset > 1 || last < loaded.totalLines || !loaded.complete) && (
        <footer className="flex h-9 flex-none items-center gap-2 border-t border-line px-3 text-meta text-ink3">
          <span className="tabular-nums">{t.linesOf(offset, last, loaded.totalLines, loaded.complete)}</span>
          <button
            type="button"
            className="button ml-auto"
            disabled={offset <= 1}
            onClick={() => setOffset(Math.max(1, offset - pageLines))}
          >
            {t.earlierLines}
          </button>
          <button
            type="button"
            className="button"
            disabled={loaded.complete && last >= loaded.totalLines}
            onClick={() => setOffset(last + 1)}
          >
            {t.laterLines}
          </button>
        </footer>
      )}
    </>
  )
}

const languages: Record<string, string> = {
  ts: 'typescript',
  tsx: 'typescript',
  mts: 'typescript',
  js: 'javascript',
  mjs: 'javascript',
  jsx: 'javascript',
  json: 'json',
  md: 'markdown',
  py: 'python',
  rs: 'rust',
  go: 'go',
  sh: 'bash',
  css: 'css',
  html: 'xml',
  xml: 'xml',
  yml: 'yaml',
  yaml: 'yaml',
}

function languageOf(path: string): string | undefined {
  const extension = /\.([^./\\]+)$/.exec(path)?.[1] ?? ''
  return Object.hasOwn(languages, extension) ? languages[extension] : undefined
}
