// Waiting for a job: its end, its output, the time or the caller's signal, whichever is first.
import { MAX_DELAY_MS } from '@deepseek-ai/cordis'
import type { Job } from './job.ts'
import type { JobWait } from './types.ts'

/** Producers do not announce output. It is looked for only while somebody waits. */
const POLL_MS = 100

export function waitForJob(job: Job, { timeoutMs, signal, until = 'output' }: JobWait): Promise<void> {
  const forOutput = until === 'output'
  const isOver = signal?.aborted === true || job.ended || !(timeoutMs > 0)
  if (isOver || (forOutput && job.hasOutput())) return Promise.resolve()
  return new Promise((resolve) => {
    const finish = (): void => {
      clearTimeout(limit)
      clearInterval(poll)
      off()
      signal?.removeEventListener('abort', finish)
      resolve()
    }
    const limit = setTimeout(finish, Math.min(timeoutMs, MAX_DELAY_MS))
    const look = (): void => {
      if (job.hasOutput()) finish()
    }
    const poll = forOutput ? setInterval(look, POLL_MS) : undefined
    const off = job.onEnd(finish)
    signal?.addEventListener('abort', finish, { once: true })
  })
}
