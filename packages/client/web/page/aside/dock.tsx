// Above the composer: the session's jobs and terminals as chips, and the one that is looked at as a panel.
import type { AsideFrame } from '@deepseek-ai/dsh-server/protocol'
import type { JobRow } from '@deepseek-ai/dsh-jobs'
import { Cog, SquareTerminal, X } from 'lucide-react'
import { lazy, Suspense, useEffect, useState } from 'react'
import { call, messageOf } from '../api.ts'
import { Arc } from '../cards/glyph.tsx'
import { formatElapsed } from '../format.ts'
import { t } from '../strings.ts'
import { useNow, useTail } from '../ui.ts'

const TerminalPanel = lazy(async () => ({ default: (await import('./terminal-panel.tsx')).TerminalPanel }))

interface DockProps {
  readonly sessionId: string
  readonly aside: AsideFrame
  readonly onFailure: (message: string) => void
}

/** Ended jobs that still show as chips. */
const keptChips = 4

export function Dock({ sessionId, aside, onFailure }: DockProps) {
  const [shown, setShown] = useState<string>()
  const running = aside.jobs.filter(({ status }) => status === 'running' || status === 'stopping')
  const ended = aside.jobs.filter((job) => !running.includes(job)).slice(-keptChips)
  const jobs = [...ended, ...running]
  const { terminals } = aside
  if (jobs.length === 0 && terminals.length === 0) return null
  const job = jobs.find(({ id }) => id === shown)
  const terminal = terminals.find(({ id }) => id === shown)
  const toggle = (id: string): void => setShown(shown === id ? undefined : id)
  const attempt = (work: Promise<unknown>): void => void work.catch((error: unknown) => onFailure(messageOf(error)))
  return (
    <div className="pb-1.5" data-dock>
      {job && <JobPanel sessionId={sessionId} job={job} onClose={() => setShown(undefined)} onAttempt={attempt} />}
      {terminal && (
        <Suspense fallback={<div className="h-[300px] rounded-card border border-line2 bg-sunken" />}>
          <TerminalPanel
            key={terminal.id}
            sessionId={sessionId}
            row={terminal}
            onClose={() => setShown(undefined)}
            onAttempt={attempt}
          />
        </Suspense>
      )}
      <div className="flex flex-wrap items-center gap-1 pt-1" role="group" aria-label={t.jobs.title}>
        {jobs.map((each) => (
          <Chip
            key={each.id}
            open={each.id === shown}
            label={`${each.id}: ${each.label}`}
            onClick={() => toggle(each.id)}
          >
            {each.status === 'running' ? <Arc /> : <Cog size={12} className="text-ink3" />}
            {each.id}
            <span className={`text-ink3 ${each.status === 'failed' ? 'text-err' : ''}`}>{chipText(each)}</span>
          </Chip>
        ))}
        {terminals.map((each) => (
          <Chip key={each.id} open={each.id === shown} label={each.name ?? each.id} onClick={() => toggle(each.id)}>
            <SquareTerminal size={12} className={each.status.kind === 'running' ? 'text-accent' : 'text-ink3'} />
            {each.name ?? each.id}
          </Chip>
        ))}
      </div>
    </div>
  )
}

function chipText({ status, detail }: JobRow): string {
  return status === 'running' ? '' : status === 'completed' ? (detail ?? status) : status
}

interface ChipProps {
  readonly open: boolean
  readonly label: string
  readonly onClick: () => void
  readonly children: React.ReactNode
}

function Chip({ open, label, onClick, children }: ChipProps) {
  return (
    <button
      type="button"
      className={`inline-flex h-6 max-w-60 items-center gap-1.5 rounded-full border border-line2 px-2 text-meta text-ink2 hover:bg-hover pointer-coarse:h-10 ${open ? 'bg-active' : ''}`}
      aria-expanded={open}
      title={label}
      onClick={onClick}
    >
      {children}
    </button>
  )
}

interface JobPanelProps {
  readonly sessionId: string
  readonly job: JobRow
  readonly onClose: () => void
  readonly onAttempt: (work: Promise<unknown>) => void
}

const pollMs = 1000

function JobPanel({ sessionId, job, onClose, onAttempt }: JobPanelProps) {
  const [text, setText] = useState('')
  const [problem, setProblem] = useState<string>()
  const output = useTail<HTMLPreElement>(text)
  const alive = job.status === 'running' || job.status === 'stopping'
  const now = useNow(alive)
  const { id } = job
  useEffect(() => {
    let over = false
    let timer: ReturnType<typeof setTimeout>
    const read = async (): Promise<void> => {
      try {
        const told = await call('jobs.output', { id: sessionId, jobId: id })
        if (!over) setText(told.text)
      } catch (error) {
        if (!over) setProblem(messageOf(error))
      }
      if (!over && alive) timer = setTimeout(() => void read(), pollMs)
    }
    void read()
    return () => {
      over = true
      clearTimeout(timer)
    }
  }, [sessionId, id, alive])
  return (
    <section
      className="overflow-hidden rounded-card border border-line2 bg-raised"
      aria-label={job.id}
      data-job={job.id}
    >
      <header className="flex h-8 items-center gap-2 border-b border-line px-3 text-meta">
        <SquareTerminal size={13} className="flex-none text-ink3" />
        <span className="flex-none font-medium">{job.id}</span>
        <span className="min-w-0 truncate font-mono text-mono text-ink2" title={job.label}>
          {job.label}
        </span>
        <span className="ml-auto flex-none tabular-nums text-ink3">
          {alive
            ? `${job.status} · ${formatElapsed(Math.max(0, now - job.startedAt))}`
            : `${job.status} · ${job.detail ?? ''}`}
        </span>
        {alive && (
          <button
            type="button"
            className="h-6 flex-none rounded-control px-1.5 text-err hover:bg-hover"
            disabled={job.status === 'stopping'}
            onClick={() => onAttempt(call('jobs.kill', { id: sessionId, jobId: job.id }))}
          >
            {job.status === 'stopping' ? t.stopping : t.jobs.kill}
          </button>
        )}
        <button type="button" className="icon-button size-6" aria-label={t.close} onClick={onClose}>
          <X size={13} />
        </button>
      </header>
      <pre
        ref={output}
        className="code-lines max-h-[240px] min-h-16 overflow-auto bg-sunken px-3 py-2 whitespace-pre-wrap break-words"
        tabIndex={0}
        aria-label={t.result}
      >
        {problem ?? (text === '' ? (alive ? t.noOutputYet : t.noOutput) : text)}
      </pre>
      {!job.facts.treeQuiet && !alive && <div className="px-3 py-1.5 text-meta text-warn">{t.jobs.survivors}</div>}
    </section>
  )
}
