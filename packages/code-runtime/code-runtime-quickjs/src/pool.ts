// The worker threads of a runtime: at most so many, one run each, replaced when spent, all joined on dispose.
import type { Cancellation } from './cancellation.ts'
import { WorkerThread } from './worker-thread.ts'

export interface PoolOptions {
  size: number
  maxMemoryMb: number
  runsPerWorker: number
}

interface Waiter {
  resolve: (thread: Promise<WorkerThread> | undefined) => void
  cancelled: boolean
}

export class WorkerPool {
  private readonly options: PoolOptions
  private readonly idle: WorkerThread[] = []
  private readonly waiters: Waiter[] = []
  /** Starts and ends under way; disposal awaits them. */
  private readonly moving = new Set<Promise<unknown>>()
  private spare: Promise<WorkerThread> | undefined
  private busy = 0
  private closed = false

  constructor(options: PoolOptions) {
    this.options = options
  }

  /** Starts one worker ahead. A failure shows when a run wants it. */
  warm(): void {
    if (this.closed || this.spare !== undefined || this.idle.length > 0) return
    const spare = this.start()
    this.spare = spare
    spare.then(
      (thread) => {
        if (this.spare !== spare) return // taken by a run while it started
        this.spare = undefined
        this.keep(thread)
      },
      () => {
        if (this.spare === spare) this.spare = undefined // the next run starts its own and hears of it
      },
    )
  }

  /** Waits for a place, then for a worker, which may fail to start. Gives none when cancelled while it waits for a place. */
  async acquire(cancellation: Cancellation): Promise<WorkerThread | undefined> {
    if (this.busy < this.options.size) return await this.take()
    const waiter: Waiter = { resolve: () => {}, cancelled: false }
    const place = new Promise<WorkerThread | undefined>((resolve) => (waiter.resolve = resolve))
    this.waiters.push(waiter)
    cancellation.listen(() => {
      waiter.cancelled = true
      waiter.resolve(undefined)
    })
    const thread = await place
    cancellation.listen(undefined)
    return thread
  }

  /** Gives a worker back. One that is not to be used again is ended; `undefined` frees the place of one that never started. */
  release(thread: WorkerThread | undefined, reusable: boolean): void {
    this.busy -= 1
    if (thread !== undefined) {
      if (reusable && thread.usable && !this.closed && thread.runs < this.options.runsPerWorker) this.keep(thread)
      else this.end(thread)
    }
    this.serve()
    if (this.busy === 0 && this.idle.length === 0 && thread !== undefined) this.warm()
  }

  async dispose(): Promise<void> {
    this.closed = true
    for (const thread of this.idle.splice(0)) this.end(thread)
    while (this.moving.size > 0) await Promise.allSettled(this.moving)
  }

  private take(): Promise<WorkerThread> {
    this.busy += 1
    const ready = this.idle.pop()
    if (ready !== undefined) {
      ready.hold(true)
      return Promise.resolve(ready)
    }
    const { spare } = this
    this.spare = undefined
    return spare ?? this.start()
  }

  private serve(): void {
    while (this.busy < this.options.size) {
      const waiter = this.waiters.shift()
      if (waiter === undefined) return
      if (!waiter.cancelled) waiter.resolve(this.take())
    }
  }

  private keep(thread: WorkerThread): void {
    if (this.closed) {
      this.end(thread)
      return
    }
    thread.listen(undefined)
    thread.hold(false)
    this.idle.push(thread)
  }

  private start(): Promise<WorkerThread> {
    return this.track(WorkerThread.start(this.options.maxMemoryMb))
  }

  private end(thread: WorkerThread): void {
    void this.track(thread.terminate())
  }

  private track<T>(work: Promise<T>): Promise<T> {
    this.moving.add(work)
    const forget = (): void => void this.moving.delete(work)
    work.then(forget, forget)
    return work
  }
}
