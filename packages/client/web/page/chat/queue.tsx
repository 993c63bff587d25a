// Messages that wait while a turn runs.
import { contentText } from '@deepseek-ai/dsh-tools/presentation'
import type { SessionEventMap } from '@deepseek-ai/dsh-session'
import { CornerDownRight } from 'lucide-react'
import { useState } from 'react'
import { call, messageOf } from '../api.ts'
import { t } from '../strings.ts'

type Waiting = SessionEventMap['inbox/added']

interface QueueProps {
  readonly sessionId: string
  readonly queue: readonly Waiting[]
  readonly onEdit: (text: string) => void
}

export function Queue({ sessionId, queue, onEdit }: QueueProps) {
  const [problem, setProblem] = useState<string>()
  if (queue.length === 0 && problem === undefined) return null

  async function takeBack(waiting: Waiting, then: (text: string) => unknown): Promise<void> {
    setProblem(undefined)
    try {
      const { withdrawn } = await call('sessions.withdraw', { id: sessionId, messageId: waiting.message.id })
      if (withdrawn) await then(contentText(waiting.message.content))
      else setProblem(t.tooLate)
    } catch (error) {
      setProblem(messageOf(error))
    }
  }
  const steer = (text: string) => call('sessions.send', { id: sessionId, text, delivery: 'steer' })

  return (
    <div className="pb-1.5" aria-label={t.queued}>
      {queue.map((waiting) => (
        <div key={waiting.message.id} className="flex min-h-7 items-center gap-2 pr-1 text-ink2" data-queued>
          <span className="grid w-5 flex-none place-items-center text-ink3">
            <CornerDownRight size={13} />
          </span>
          <span className="flex-none text-meta text-ink3">{waiting.delivery === 'steer' ? t.steering : t.queued}</span>
          <span className="min-w-0 flex-1 truncate">{contentText(waiting.message.content)}</span>
          {waiting.delivery !== 'steer' && (
            <button
              type="button"
              className="flex-none rounded-control px-1.5 text-meta text-ink3 hover:bg-hover hover:text-ink pointer-coarse:h-10"
              onClick={() => void takeBack(waiting, steer)}
            >
              {t.steerNow}
            </button>
          )}
          <button
            type="button"
            className="flex-none rounded-control px-1.5 text-meta text-ink3 hover:bg-hover hover:text-ink pointer-coarse:h-10"
            onClick={() => void takeBack(waiting, onEdit)}
          >
            {t.withdraw}
          </button>
        </div>
      ))}
      {problem && (
        <div className="px-1 text-meta text-warn" role="status">
          {problem}
        </div>
      )}
    </div>
  )
}
