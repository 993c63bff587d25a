// What programs and tools ask the person. A secret goes to the asker alone: it is in no log and no model sees it.
import type { PendingQuestion } from '@deepseek-ai/dsh-user-questions'
import { MessageCircleQuestion } from 'lucide-react'
import { useState, type FormEvent } from 'react'
import { t } from '../strings.ts'

interface QuestionsProps {
  readonly questions: readonly PendingQuestion[]
  readonly onAnswer: (id: string, text: string, secret: boolean) => Promise<void>
  readonly onDismiss: (id: string) => Promise<void>
}

export function Questions({ questions, onAnswer, onDismiss }: QuestionsProps) {
  if (questions.length === 0) return null
  return (
    <div className="grid max-h-[50vh] gap-2 overflow-auto pb-2" aria-live="assertive" aria-label={t.question.title}>
      {questions.map((question) => (
        <QuestionCard
          key={question.id}
          question={question}
          onAnswer={(text, secret) => onAnswer(question.id, text, secret)}
          onDismiss={() => onDismiss(question.id)}
        />
      ))}
    </div>
  )
}

interface QuestionCardProps {
  readonly question: PendingQuestion
  readonly onAnswer: (text: string, secret: boolean) => Promise<void>
  readonly onDismiss: () => Promise<void>
}

function QuestionCard({ question, onAnswer, onDismiss }: QuestionCardProps) {
  const [text, setText] = useState('')
  const [secret, setSecret] = useState(question.secret)
  const [sent, setSent] = useState(false)
  const { origin, context, options } = question

  const send = (answer: string): void => {
    if (sent) return
    setSent(true)
    void onAnswer(answer, secret).finally(() => {
      setSent(false)
      setText('')
    })
  }
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    send(text)
  }
  return (
    <form
      className="rounded-card border border-warnl bg-warnw px-3 pt-2.5 pb-2.5"
      data-question={question.id}
      onSubmit={submit}
    >
      <div className="flex items-start gap-2">
        <MessageCircleQuestion size={15} className="mt-0.5 flex-none text-warn" aria-hidden="true" />
        <div className="min-w-0">
          <div className="text-meta text-ink3">
            {origin.kind === 'terminal' ? t.question.fromTerminal(origin.terminalId) : t.question.fromCall}
          </div>
          <div className="font-medium break-words">{question.question}</div>
        </div>
      </div>
      {context !== undefined && context.trim() !== '' && (
        <pre className="mt-2 max-h-[120px] overflow-auto rounded-control border border-line bg-sunken px-3 py-1.5 font-mono text-mono whitespace-pre-wrap break-words">
          {context}
        </pre>
      )}
      {options !== undefined && (
        <div className="mt-2 flex flex-wrap gap-1.5">
          {options.map((option) => (
            <button key={option} type="button" className="button" disabled={sent} onClick={() => send(option)}>
              {option}
            </button>
          ))}
        </div>
      )}
      <div className="mt-2 flex flex-wrap items-center gap-1.5">
        {options === undefined && (
          <input
            className="h-8 min-w-0 flex-1 rounded-control border border-field bg-raised px-2.5"
            type={secret ? 'password' : 'text'}
            autoComplete="off"
            aria-label={question.question}
            placeholder={secret ? t.question.secretPlaceholder : t.question.placeholder}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        )}
        {options === undefined && (
          <button type="submit" className="button button-primary" disabled={sent}>
            {t.question.answer}
          </button>
        )}
        <button type="button" className="button ml-auto" disabled={sent} onClick={() => void onDismiss()}>
          {t.question.dismiss}
        </button>
      </div>
      {options === undefined && (
        <label className="mt-1.5 flex items-center gap-1.5 text-meta text-ink2">
          <input
            type="checkbox"
            checked={secret}
            disabled={question.secret}
            onChange={(event) => setSecret(event.target.checked)}
          />
          {t.question.secret}
        </label>
      )}
    </form>
  )
}
