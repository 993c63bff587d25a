// A producer that does what the test says, and a host with the job service alone.
import { createHost, type Context } from '@deepseek-ai/cordis'
import type { ContextMessage } from '@deepseek-ai/dsh-tools'
import { onTestFinished } from 'vitest'
import Jobs, { type JobEnd, type JobOutput, type JobOwner, type JobWork, type JobsConfig } from '@deepseek-ai/dsh-jobs'

export class FakeWork implements JobWork {
  readonly cancels: (string | undefined)[] = []
  readonly done: Promise<JobEnd>
  /** Ends the work. */
  finish: (end: JobEnd) => void = () => {}
  fail: (error: unknown) => void = () => {}
  /** What a cancellation does besides being noted. */
  onCancel: () => void = () => this.finish({ status: 'killed', detail: 'signal: SIGTERM' })
  private text = ''
  private lossy = false

  constructor() {
    this.done = new Promise((resolve, reject) => {
      this.finish = resolve
      this.fail = reject
    })
  }

  print(text: string, lossy = false): void {
    this.text += text
    this.lossy ||= lossy
  }

  cancel(reason?: string): void {
    this.cancels.push(reason)
    this.onCancel()
  }

  readOutput(maxBytes: number): JobOutput {
    const text = this.text.slice(0, maxBytes)
    const { lossy } = this
    this.text = this.text.slice(maxBytes)
    this.lossy = false
    return { text, lossy, ...(lossy ? { files: ['/spill/whole'] } : {}) }
  }

  peekOutput(maxBytes: number): string {
    return this.text.slice(-maxBytes)
  }
}

export const EXIT_0: JobEnd = { status: 'completed', detail: 'exit code: 0' }

export interface FakeOwner extends JobOwner {
  readonly injected: ContextMessage[]
}

/** An owner that is no agent of a session. */
export function owner(id = 'owner'): FakeOwner {
  const injected: ContextMessage[] = []
  return { id, injected, inject: (message) => void injected.push(message) }
}

export interface Fixture {
  readonly ctx: Context
  readonly jobs: Jobs
  readonly log: string[]
  readonly dispose: () => Promise<void>
  /** Starts a job that prints and ends as told. */
  readonly start: (owner?: JobOwner, label?: string) => { id: string; work: FakeWork }
}

export async function startJobs(config: Partial<JobsConfig> = {}): Promise<Fixture> {
  const log: string[] = []
  const host = createHost({ write: (line) => log.push(line) })
  const { ctx } = host
  const dispose = (): Promise<void> => host.dispose()
  onTestFinished(dispose)
  await ctx.plugin(Jobs, config)
  return { ctx, jobs: ctx.jobs, log, dispose, start: (whose, label) => startFake(ctx.jobs, whose, label) }
}

export function startFake(jobs: Jobs, whose?: JobOwner, label = 'work'): { id: string; work: FakeWork } {
  const work = new FakeWork()
  return { id: jobs.start({ kind: 'test', label, owner: whose, run: () => work }), work }
}

/** Resolves when the job has ended and everything that follows at once has been done. */
export async function ended(jobs: Jobs, whose: JobOwner | undefined, id: string): Promise<void> {
  await jobs.wait(whose, id, { timeoutMs: 5000, until: 'end' })
}
