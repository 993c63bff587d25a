// Tells one owner of ends that it does not know of: in one message for what ended together, waking it no more often than it may be.
import { errorMessage } from '@deepseek-ai/cordis'
import type { Agent } from '@deepseek-ai/dsh-agent'
import type { Job } from './job.ts'
import { endNotice } from './text.ts'
import type { JobOwner, JobsConfig } from './types.ts'

/** Ends within this time make one message; whoever waits for a job reads its end sooner than that. */
const WINDOW_MS = 50
const SOURCE = { kind: 'plugin', plugin: 'jobs' } as const

/** A message that is in the agent's inbox. */
interface Sent {
  readonly messageId: string
  readonly text: string
  readonly jobs: readonly Job[]
}

export interface NoticeParts {
  readonly owner: JobOwner
  readonly config: Pick<JobsConfig, 'completionDelivery' | 'maxConsecutiveWakes'>
  /** The live agent that the owner is, if it is one. */
  readonly agent: () => Agent | undefined
  readonly onTold: (jobs: readonly Job[]) => void
  readonly report: (problem: string) => void
}

export class Notices {
  private readonly parts: NoticeParts
  private queue: Job[] = []
  private sent: Sent[] = []
  private timer: NodeJS.Timeout | undefined
  private wakes = 0

  constructor(parts: NoticeParts) {
    this.parts = parts
  }

  /** A job has ended. */
  add(job: Job): void {
    if (!owes(job)) return
    this.queue.push(job)
    this.timer ??= setTimeout(() => this.deliver(), WINDOW_MS).unref()
  }

  /** The owner has come to know of an end by itself: a message that says nothing else is taken back. */
  acknowledged(): void {
    const agent = this.parts.agent()
    if (agent === undefined) return
    this.sent = this.sent.filter(({ messageId, jobs }) => {
      const isNews = jobs.some((job) => !job.acknowledged)
      return isNews || !agent.withdraw(messageId)
    })
  }

  /** A person has written: completions may wake the agent again. */
  personSpoke(): void {
    this.wakes = 0
  }

  /** The agent is idle: what it should have got with its next request, and there was none, wakes it now. */
  idle(): void {
    const agent = this.parts.agent()
    if (agent === undefined || this.sent.length === 0) return
    const pending = new Set(agent.session.pending().map(({ message }) => message.id))
    this.sent = this.sent.filter(({ messageId }) => pending.has(messageId))
    if (this.sent.length === 0 || !this.mayWake(agent)) return
    const waiting = this.sent.filter(({ messageId }) => agent.withdraw(messageId))
    this.sent = []
    if (waiting.length === 0) return
    this.send(
      agent,
      waiting.map(({ text }) => text).join('\n'),
      waiting.flatMap(({ jobs }) => jobs),
    )
  }

  close(): void {
    clearTimeout(this.timer)
    this.timer = undefined
    this.queue = []
    this.sent = []
  }

  private deliver(): void {
    this.timer = undefined
    const jobs = this.queue.filter(owes)
    this.queue = []
    if (jobs.length === 0) return
    const text = jobs.map((job) => endNotice(job.row(), job.readable)).join('\n')
    const agent = this.parts.agent()
    try {
      if (agent === undefined) this.parts.owner.inject({ content: text, source: SOURCE })
      else this.send(agent, text, jobs)
      this.parts.onTold(jobs)
    } catch (error) {
      this.parts.report(`the end of ${jobs.map(({ id }) => id).join(', ')} could not be told: ${errorMessage(error)}`)
    }
  }

  private send(agent: Agent, text: string, jobs: readonly Job[]): void {
    const wakes = this.mayWake(agent)
    const message = agent.send(text, { delivery: wakes ? 'queue' : 'inject', source: SOURCE })
    if (wakes) this.wakes++
    else this.sent.push({ messageId: message.id, text, jobs })
  }

  private mayWake(agent: Agent): boolean {
    const { completionDelivery, maxConsecutiveWakes } = this.parts.config
    return completionDelivery === 'wakeup' && agent.status === 'idle' && this.wakes < maxConsecutiveWakes
  }
}

/** An owner that read the end or killed the job knows; unless its kill left something running. */
function owes(job: Job): boolean {
  if (job.reported) return false
  return !job.acknowledged || (job.killedByOwner && (job.row().survivors?.length ?? 0) > 0)
}
