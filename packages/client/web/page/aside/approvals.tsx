// Questions that a call waits with: what exactly would happen, why, what it widens, and the answers. Never takes the focus from the composer.
import type { ApprovalAnswer, PendingApproval } from '@deepseek-ai/dsh-approval'
import { ShieldQuestion } from 'lucide-react'
import { useState, type KeyboardEvent } from 'react'
import { t } from '../strings.ts'

interface ApprovalsProps {
  readonly approvals: readonly PendingApproval[]
  readonly onAnswer: (id: string, answer: ApprovalAnswer) => Promise<void>
}

export function Approvals({ approvals, onAnswer }: ApprovalsProps) {
  if (approvals.length === 0) return null
  return (
    <div className="grid max-h-[50vh] gap-2 overflow-auto pb-2" aria-live="assertive" aria-label={t.approval.title}>
      {approvals.map((approval) => (
        <ApprovalCard key={approval.id} approval={approval} onAnswer={(answer) => onAnswer(approval.id, answer)} />
      ))}
    </div>
  )
}

interface ApprovalCardProps {
  readonly approval: PendingApproval
  readonly onAnswer: (answer: ApprovalAnswer) => Promise<void>
}

function ApprovalCard({ approval, onAnswer }: ApprovalCardProps) {
  const { toolName, reason, subject, widening, suggestedPrefix } = approval
  const [sent, setSent] = useState(false)
  const [prefix, setPrefix] = useState(suggestedPrefix?.length ?? 0)
  const words = suggestedPrefix?.slice(0, prefix)

  const answer = (given: ApprovalAnswer): void => {
    if (sent) return
    setSent(true)
    // What failed is told by the chat; the question may still stand.
    void onAnswer(given).finally(() => setSent(false))
  }
  const once = (): void => answer({ kind: 'allow', grant: { kind: 'once' } })
  const session = (): void => answer({ kind: 'allow', grant: { kind: 'session' } })
  const always = (): void => {
    if (words !== undefined) answer({ kind: 'allow', grant: { kind: 'prefix', words } })
  }
  const deny = (): void => answer({ kind: 'reject' })

  function onKeyDown(event: KeyboardEvent): void {
    if (event.metaKey || event.ctrlKey || event.altKey) return
    const keys: Record<string, () => void> = { a: once, s: session, r: always, d: deny }
    const act = Object.hasOwn(keys, event.key.toLowerCase()) ? keys[event.key.toLowerCase()] : undefined
    if (!act) return
    event.preventDefault()
    event.stopPropagation()
    act()
  }

  return (
    <section
      className="rounded-card border border-warnl bg-warnw outline-offset-2"
      tabIndex={0}
      role="group"
      aria-label={t.approval.ask(toolName)}
      data-approval={approval.id}
      onKeyDown={onKeyDown}
    >
      <div className="flex items-start gap-2 px-3 pt-2.5">
        <ShieldQuestion size={15} className="mt-0.5 flex-none text-warn" aria-hidden="true" />
        <div className="min-w-0">
          <div className="font-medium">{t.approval.ask(toolName)}</div>
          <div className="break-words text-ink2">{reason}</div>
        </div>
      </div>
      <Subject subject={subject} />
      <Widening widening={widening} />
      <div className="flex flex-wrap items-center gap-1.5 px-3 pt-2 pb-2.5">
        <button type="button" className="button button-primary" title="A" disabled={sent} onClick={once}>
          {t.approval.once}
        </button>
        <button type="button" className="button" title="S" disabled={sent} onClick={session}>
          {t.approval.session}
        </button>
        {words !== undefined && (
          <span className="inline-flex items-center gap-1">
            <button type="button" className="button max-w-72" title="R" disabled={sent} onClick={always}>
              {t.approval.always} <code className="truncate font-mono text-mono">{words.join(' ')} …</code>
            </button>
            {(suggestedPrefix?.length ?? 0) > 1 && (
              <PrefixLength words={suggestedPrefix ?? []} length={prefix} onChange={setPrefix} />
            )}
          </span>
        )}
        <button type="button" className="button button-danger ml-auto" title="D" disabled={sent} onClick={deny}>
          {t.approval.deny}
        </button>
      </div>
    </section>
  )
}

interface PrefixLengthProps {
  readonly words: readonly string[]
  readonly length: number
  readonly onChange: (length: number) => void
}

function PrefixLength({ words, length, onChange }: PrefixLengthProps) {
  return (
    <select
      className="h-7 rounded-control border border-line2 bg-raised px-1 text-meta text-ink2"
      aria-label={t.approval.rule}
      value={length}
      onChange={(event) => onChange(Number(event.target.value))}
    >
      {words.map((_, index) => (
        <option key={index} value={index + 1}>
          {words.slice(0, index + 1).join(' ')} …
        </option>
      ))}
    </select>
  )
}

function Subject({ subject }: { subject: PendingApproval['subject'] }) {
  const text = subjectText(subject)
  const where = subject.kind === 'command' ? subject.workdir : subject.kind === 'diff' ? subject.path : ''
  return (
    <div className="mx-3 mt-2 rounded-control border border-line bg-sunken">
      <pre
        className="max-h-[220px] overflow-auto px-3 py-2 font-mono text-mono whitespace-pre-wrap break-words"
        tabIndex={0}
      >
        {text}
      </pre>
      {where !== '' && (
        <div className="truncate border-t border-line px-3 py-1 font-mono text-meta text-ink3">{where}</div>
      )}
    </div>
  )
}

function subjectText(subject: PendingApproval['subject']): string {
  switch (subject.kind) {
    case 'command':
      return subject.command
    case 'diff':
      return [
        ...(subject.before ?? '').split('\n').map((line) => `- ${line}`),
        ...subject.after.split('\n').map((line) => `+ ${line}`),
      ].join('\n')
    case 'arguments':
      return JSON.stringify(subject.arguments, undefined, 2)
    default:
      return subject satisfies never
  }
}

function Widening({ widening }: { widening: PendingApproval['widening'] }) {
  if (widening === undefined) return null
  const { files, network } = widening
  const modes: Readonly<Record<string, string>> = t.permission.modes
  return (
    <dl className="mx-3 mt-2 flex flex-wrap gap-x-4 text-meta text-ink2">
      {files && (
        <div>
          <dt className="inline text-ink3">{t.permission.files} </dt>
          <dd className="inline">
            {modes[files.from] ?? files.from} → <b className="font-medium text-warn">{modes[files.to] ?? files.to}</b>
          </dd>
        </div>
      )}
      <div>
        <dt className="inline text-ink3">{t.permission.network} </dt>
        <dd className="inline">{network === undefined ? t.permission.unchanged : `${network.from} → ${network.to}`}</dd>
      </div>
    </dl>
  )
}
