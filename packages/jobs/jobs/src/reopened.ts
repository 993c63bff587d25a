// A session that is opened again: its model is told, with its next request, of jobs whose end it does not know, so that it does not
// wait for what is gone.
import { errorMessage } from '@deepseek-ai/cordis'
import type { Agent, PreStepDecision, PreStepEvent } from '@deepseek-ai/dsh-agent'
import type { SessionMessage } from '@deepseek-ai/dsh-session'
import { JobLog, readFormerJobs, type FormerJobs } from './log.ts'
import { formerNotice } from './text.ts'

const SOURCE = { kind: 'plugin', plugin: 'jobs' } as const

type Awaitable<T> = T | Promise<T>

export class ReopenedSessions {
  /** What the reading of an agent's log has put into its inbox, until the agent's first step. */
  private readonly readings = new WeakMap<Agent, Promise<SessionMessage | undefined>>()
  private readonly report: (problem: string) => void
  private readonly onRead: (agent: Agent, former: FormerJobs) => void

  /** `onRead` is called before the message is sent; must not throw. */
  constructor(onRead: (agent: Agent, former: FormerJobs) => void, report: (problem: string) => void) {
    this.onRead = onRead
    this.report = report
  }

  read(agent: Agent): void {
    if (this.readings.has(agent)) return
    const failed = (error: unknown): undefined => {
      this.report(`the jobs of session ${agent.id} could not be told: ${errorMessage(error)}`)
    }
    this.readings.set(
      agent,
      readFormerJobs(agent.session)
        .then((former) => this.tell(agent, former))
        .catch(failed),
    )
  }

  /** Holds the first step until the log is read, and puts in what came too late to be claimed for it. */
  enter(event: PreStepEvent, next: () => Awaitable<PreStepDecision>): Awaitable<PreStepDecision> {
    const reading = this.readings.get(event.agent)
    return reading === undefined ? next() : this.enterAfter(reading, event, next)
  }

  private async enterAfter(
    reading: Promise<SessionMessage | undefined>,
    { agent, messages: claimed }: PreStepEvent,
    next: () => Awaitable<PreStepDecision>,
  ): Promise<PreStepDecision> {
    const message = await reading
    const decision = await next()
    if (decision.kind !== 'enter') return decision
    this.readings.delete(agent)
    if (message === undefined || claimed.some(({ id }) => id === message.id)) return decision
    const isWaiting = agent.session.pending().some((each) => each.message.id === message.id)
    return isWaiting ? { kind: 'enter', messages: [message, ...decision.messages] } : decision
  }

  private tell(agent: Agent, former: FormerJobs): SessionMessage | undefined {
    this.onRead(agent, former)
    const { untold, unended } = former
    if (untold.length === 0 || !agent.session.open) return undefined
    const log = new JobLog(agent.session, this.report)
    const message = agent.send(untold.map(formerNotice).join('\n'), { delivery: 'inject', source: SOURCE })
    for (const job of untold) if (unended.has(job.id)) log.lostWithHost(job)
    log.told(
      untold.map(({ id }) => id),
      'notice',
    )
    return message
  }
}
