// One run on the worker: a synchronous loop of settlements, timers, jobs and sleep, with every limit that the engine can keep.
// The thread belongs to the run until it ends; the host wakes it through the control block.
import { PROGRAM_FILE, type Call, type FromWorker, type GuestFailure, type ToWorker } from '../protocol.ts'
import type { Guest, RunHost } from './engine.ts'
import type { Link } from './link.ts'
import { Output } from './output.ts'
import { Timers } from './timers.ts'

const MIB = 1024 * 1024
/** Jobs between two looks at limits and messages. */
const JOBS_PER_TURN = 1000
const OUT_OF_MEMORY = /^InternalError: out of memory/

export type Job = Extract<ToWorker, { type: 'run' }>
type Done = Omit<Extract<FromWorker, { type: 'done' }>, 'spent'>
type Outcome = { value?: string; failure?: GuestFailure }

/** What a run needs of the worker's link. */
export type RunLink = Pick<Link, 'send' | 'next' | 'wakes' | 'stopped' | 'sleep'>

export interface RunPlace {
  link: RunLink
  maxMemoryMb: number
  /** The most that the engine has ever held: its memory never shrinks. */
  peakBytes: () => number
}

/** Runs to the end. May throw what breaks out of the engine: the worker is lost then. */
export function runJob(guest: Guest, job: Job, place: RunPlace): Done {
  const run = new Run(guest, job, place)
  run.start()
  while (!run.isOver) run.turn()
  return run.report()
}

export class Run implements RunHost {
  private readonly guest: Guest
  private readonly job: Job
  private readonly place: RunPlace
  private readonly output: Output
  private readonly timers = new Timers()
  private outcome: Outcome | undefined
  private busyMs = 0
  private enteredAt = 0

  constructor(guest: Guest, job: Job, place: RunPlace) {
    this.guest = guest
    this.job = job
    this.place = place
    this.output = new Output((batch) => place.link.send(batch), job.maxOutputBytes, (place.maxMemoryMb * MIB) / 2)
  }

  start(): void {
    this.guest.attach(this, () => this.mustStop())
    if (this.guest.bindings === undefined) this.inside(() => this.guest.install(this.job.bindings))
    this.inside(() => this.guest.startProgram(this.job.code, PROGRAM_FILE))
  }

  get isOver(): boolean {
    return this.outcome !== undefined
  }

  report(): Done {
    const { value, failure } = this.outcome ?? {}
    return {
      type: 'done',
      run: this.job.run,
      logs: this.output.takeLogs(),
      ...(value === undefined ? {} : { value }),
      ...(failure === undefined ? {} : { failure }),
    }
  }

  /** Does what can be done now, or sleeps until something can. */
  turn(): void {
    const wake = this.place.link.wakes
    const busy = this.runJobs() || this.takeMessages() || this.fireTimers()
    if (this.outcome !== undefined || this.mustStop()) return
    this.output.flush(performance.now())
    if (!busy) this.sleep(wake)
  }

  private runJobs(): boolean {
    if (!this.guest.hasPendingJob) return false
    this.inside(() => {
      this.guest.runJobs(JOBS_PER_TURN)
      return undefined
    })
    this.output.flushStale(performance.now())
    return true
  }

  private takeMessages(): boolean {
    let any = false
    for (let text = this.place.link.next(); text !== undefined; text = this.place.link.next()) {
      const end = text.indexOf(';')
      for (const id of text.slice(0, end).split(',')) this.output.settled(Number(id))
      const list = text.slice(end + 1)
      this.inside(() => this.guest.enter('settle', list))
      any = true
    }
    return any
  }

  private fireTimers(): boolean {
    const now = performance.now()
    const due = this.timers.take(now)
    for (const id of due) {
      if (this.outcome !== undefined || !this.timers.has(id)) continue
      this.timers.fired(id, now)
      this.inside(() => this.guest.enter('fire', id))
      // Microtasks of one timer run before the next timer, as everywhere else.
      while (this.outcome === undefined && this.guest.hasPendingJob && !this.mustStop()) this.runJobs()
    }
    if (due.length > 0) this.timers.settle()
    return due.length > 0
  }

  private sleep(wake: number): void {
    // No job, no message, no timer, no call: nothing is left that could ever settle what the program awaits.
    if (this.output.pendingCalls > 0 || this.timers.size > 0) {
      this.place.link.sleep(wake, this.timers.wait(performance.now()))
      return
    }
    const message =
      'the program awaits a promise that nothing can settle any more: no tool call, no timer and no other work of it is pending'
    this.end({ kind: this.memoryIsSpent() ? 'memory' : 'deadlock', message })
  }

  /** Counts the time inside the engine, and turns what came out of it into the end of the run. */
  private inside(enter: () => { name: string; message: string; stack: string } | undefined): void {
    if (this.outcome !== undefined) return
    this.enteredAt = performance.now()
    const thrown = enter()
    this.busyMs += performance.now() - this.enteredAt
    this.enteredAt = 0
    if (thrown === undefined || this.mustStop() || this.outcome !== undefined) return
    this.fail('exception', `${thrown.name}: ${thrown.message}`, thrown.stack)
  }

  /** The engine asks this every few thousand operations; true makes it throw what no program can catch. */
  private mustStop(): boolean {
    if (this.outcome !== undefined) return true
    const now = performance.now()
    this.output.flushStale(now)
    const busy = this.busyMs + (this.enteredAt === 0 ? 0 : now - this.enteredAt)
    if (busy > this.job.computeMs)
      this.end({ kind: 'timeout', message: `compute limit reached (${this.job.computeMs} ms busy)` })
    else if (this.place.link.stopped === this.job.run) this.end({ kind: 'stopped', message: 'stopped' })
    return this.outcome !== undefined
  }

  private memoryIsSpent(): boolean {
    const usage = this.guest.memoryUsage()
    const used = /memory used\s+\d+\s+(\d+)/.exec(usage)?.[1]
    return used !== undefined && Number(used) > this.place.maxMemoryMb * MIB * 0.9
  }

  private end(failure: GuestFailure): void {
    this.outcome ??= { failure }
  }

  call(call: Call): string | undefined {
    return this.output.call(call)
  }

  done(value: string | undefined): void {
    if (value !== undefined && !this.output.fits(value)) this.overflow()
    else this.outcome ??= value === undefined ? {} : { value }
  }

  fail(kind: 'exception' | 'invalid-output', message: string, stack: string): void {
    // Note: without memory for an error the engine throws null.
    const starved = message === 'thrown: null' && this.place.peakBytes() > this.place.maxMemoryMb * MIB * 0.75
    if (!starved && !OUT_OF_MEMORY.test(message)) this.end({ kind, message, stack })
    else this.end({ kind: 'memory', message: `out of memory (limit ${this.place.maxMemoryMb} MiB)`, stack })
  }

  log(line: string): void {
    if (this.outcome === undefined && !this.output.log(line, performance.now())) this.overflow()
  }

  startTimer(id: number, delayMs: number, repeats: boolean): string | undefined {
    return this.timers.start(id, delayMs, repeats, performance.now())
  }

  stopTimer(id: number): void {
    this.timers.stop(id)
  }

  private overflow(): void {
    const message = `logs and result exceed ${this.job.maxOutputBytes} bytes; print less, or return a summary`
    this.end({ kind: 'output-limit', message })
  }
}
