// Order of tool calls: which may overlap, which wait, and in what order results are committed. Knows nothing of models or logs.
import type { ToolExecutionMode } from './types.ts'

/** One call as the scheduler sees it. */
export interface ScheduledCall<Outcome> {
  /** Asked just before the start, so that a registry change reclassifies what has not started. A throw means exclusive. */
  mode(): ToolExecutionMode
  /** Does the work. A rejection stops the scheduler and is what `submit` rejects with. */
  run(): Promise<Outcome>
  /** The outcome of a call that never started because the scheduler was stopped. */
  unstarted(): Outcome
  /** Called once for each outcome, in the order of submission. A throw stops the scheduler. */
  commit(outcome: Outcome): void
}

interface Entry<Outcome> {
  readonly call: ScheduledCall<Outcome>
  readonly resolve: (outcome: Outcome) => void
  readonly reject: (error: unknown) => void
  settled?: { readonly outcome: Outcome } | { readonly error: unknown }
}

/**
 * Starts calls in the order of submission. Parallel calls overlap up to a limit; an exclusive call waits for everything before it
 * and holds back everything after it. Outcomes are committed in the order of submission, whatever settles first.
 */
export class CallScheduler<Outcome> {
  private readonly maxParallelCalls: number
  private readonly waiting = new Queue<Entry<Outcome>>()
  private readonly uncommitted = new Queue<Entry<Outcome>>()
  private running = 0
  private exclusiveRuns = false
  private stopped = false
  private pumping = false

  constructor(options: { maxParallelCalls: number }) {
    this.maxParallelCalls = options.maxParallelCalls
  }

  /** Resolves with the outcome once it is committed, which is after every earlier call is. */
  submit(call: ScheduledCall<Outcome>): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      const entry: Entry<Outcome> = { call, resolve, reject }
      this.waiting.push(entry)
      this.uncommitted.push(entry)
      this.pump()
    })
  }

  /** Starts nothing more: waiting calls become `unstarted`, running ones are waited for. */
  stop(): void {
    this.stopped = true
    this.pump()
  }

  private pump(): void {
    if (this.pumping) return // a call that settles or submits while one starts is seen by the loop below
    this.pumping = true
    try {
      for (let head = this.waiting.head; head !== undefined && this.admits(head); head = this.waiting.head) {
        this.waiting.shift()
        if (this.stopped) skip(head)
        else void this.start(head)
      }
    } finally {
      this.pumping = false
    }
    this.commitReady()
  }

  private admits({ call }: Entry<Outcome>): boolean {
    if (this.stopped) return true
    if (this.exclusiveRuns || this.running >= this.maxParallelCalls) return false
    if (isParallel(call)) return true
    if (this.running > 0) return false
    this.exclusiveRuns = true
    return true
  }

  private async start(entry: Entry<Outcome>): Promise<void> {
    this.running += 1
    try {
      entry.settled = { outcome: await entry.call.run() }
    } catch (error) {
      entry.settled = { error }
      this.stopped = true
    }
    this.running -= 1
    this.exclusiveRuns = false // true only while nothing else runs
    this.pump()
  }

  private commitReady(): void {
    for (let head = this.uncommitted.head; head?.settled !== undefined; head = this.uncommitted.head) {
      this.uncommitted.shift()
      this.commit(head, head.settled)
    }
  }

  private commit(entry: Entry<Outcome>, settled: NonNullable<Entry<Outcome>['settled']>): void {
    if ('error' in settled) return entry.reject(settled.error)
    try {
      entry.call.commit(settled.outcome)
      entry.resolve(settled.outcome)
    } catch (error) {
      entry.reject(error)
      this.stop()
    }
  }
}

/** First in, first out, at the same cost for any length: a program may submit a hundred thousand calls at once. */
class Queue<T> {
  private items: (T | undefined)[] = []
  private first = 0

  get head(): T | undefined {
    return this.items[this.first]
  }

  push(item: T): void {
    this.items.push(item)
  }

  shift(): void {
    this.items[this.first++] = undefined
    if (this.first < 1024 || this.first * 2 < this.items.length) return
    this.items = this.items.slice(this.first)
    this.first = 0
  }
}

function skip<Outcome>(entry: Entry<Outcome>): void {
  try {
    entry.settled = { outcome: entry.call.unstarted() }
  } catch (error) {
    entry.settled = { error }
  }
}

function isParallel<Outcome>(call: ScheduledCall<Outcome>): boolean {
  try {
    return call.mode().kind === 'parallel'
  } catch {
    return false // a classifier that throws must not overlap anything
  }
}
