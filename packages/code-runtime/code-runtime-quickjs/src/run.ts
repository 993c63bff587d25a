// One run as the host sees it: calls to handlers, settlements back, logs, abort and the wall clock, and the one result.
import { errorMessage } from '@deepseek-ai/cordis'
import type { CodeFailureKind, CodeRunRequest, CodeRunResult } from '@deepseek-ai/dsh-code-runtime'
import type { Json } from '@deepseek-ai/dsh-tools'
import type { Cancellation } from './cancellation.ts'
import { describeException, type ErasedProgram } from './program.ts'
import { settlementText, type Batch, type BindingShape, type FromWorker, type GuestFailure } from './protocol.ts'
import type { WorkerEnd, WorkerThread } from './worker-thread.ts'

/** How long a stopped worker may take to hand over its last lines before it is killed. */
const STOP_GRACE_MS = 25

export interface RunPlan {
  request: CodeRunRequest
  erased: ErasedProgram
  bindings: readonly BindingShape[]
  cancellation: Cancellation
  limits: { computeMs: number; maxWallMs: number; maxOutputBytes: number }
}

export interface RunEnd {
  result: CodeRunResult
  /** The worker has ended the run by itself and can serve another. */
  reusable: boolean
  /** The worker broke before it started the run: another one has to. */
  neverStarted: boolean
}

/** What a run needs of a worker thread. */
export type RunThread = Pick<WorkerThread, 'runs' | 'listen' | 'startRun' | 'settle' | 'stop' | 'drain'>

export function runOnWorker(thread: RunThread, plan: RunPlan): Promise<RunEnd> {
  return new Promise((resolve) => new HostRun(thread, plan, resolve).start())
}

type Failure = { kind: CodeFailureKind; message: string }
type Done = Extract<FromWorker, { type: 'done' }>

class HostRun {
  private readonly thread: RunThread
  private readonly plan: RunPlan
  private readonly settle: (end: RunEnd) => void
  private readonly run: number
  private readonly logs: string[] = []
  private settledIds: number[] = []
  private settlements: string[] = []
  private settled = false
  /** Why the run is being stopped; from then on no handler is called. */
  private stopping: Failure | undefined
  private wallTimer: NodeJS.Timeout | undefined
  private graceTimer: NodeJS.Timeout | undefined

  constructor(thread: RunThread, plan: RunPlan, settle: (end: RunEnd) => void) {
    this.thread = thread
    this.plan = plan
    this.settle = settle
    thread.runs += 1
    this.run = thread.runs
  }

  start(): void {
    const { erased, bindings, cancellation, limits } = this.plan
    const { computeMs, maxWallMs, maxOutputBytes } = limits
    this.thread.listen({
      batch: (text) => this.hear(JSON.parse(text) as Batch),
      done: (done) => this.done(done),
      lost: (end) => this.lost(end),
    })
    if (this.settled) return
    const message = `wall-clock limit reached (${maxWallMs} ms)`
    this.wallTimer = setTimeout(() => this.stop({ kind: 'timeout', message }), maxWallMs)
    const shapes = JSON.stringify(bindings)
    this.thread.startRun({ run: this.run, code: erased.code, bindings: shapes, computeMs, maxOutputBytes })
    cancellation.listen(() => this.stop({ kind: 'abort', message: cancellation.message ?? '' }))
  }

  private hear([logs, calls]: Batch): void {
    if (this.settled) return
    this.addLogs(logs)
    for (const [id, binding, name, argument] of calls) {
      if (this.settled || this.stopping !== undefined) return // by the handler of a call before it
      this.dispatch(id, binding, name, argument)
    }
  }

  private addLogs(lines: readonly string[]): void {
    for (const line of lines) {
      this.logs.push(line)
      try {
        this.plan.request.onLog?.(line)
      } catch {
        // The contract forbids it to throw; a listener of lines must not decide over the run.
      }
    }
  }

  private dispatch(id: number, bindingIndex: number, nameIndex: number, argument: Json): void {
    const binding = this.plan.request.bindings[bindingIndex]
    const name = this.plan.bindings[bindingIndex]?.names[nameIndex]
    if (binding === undefined || name === undefined) return
    try {
      // Why no async function around it: it would cost a call as much again as what is done here for it.
      Promise.resolve(binding.call(name, argument)).then(
        (value) => this.answer(id, value),
        (thrown: unknown) => this.refuse(id, thrown),
      )
    } catch (thrown) {
      this.refuse(id, thrown)
    }
  }

  private answer(id: number, value: Json): void {
    try {
      const text = JSON.stringify(value) as string | undefined
      if (text === undefined) throw new Error('the call gave no JSON value')
      this.addSettlement(id, `[${id},true,${text}]`)
    } catch (thrown) {
      this.refuse(id, thrown)
    }
  }

  private refuse(id: number, thrown: unknown): void {
    this.addSettlement(id, `[${id},false,${JSON.stringify(errorMessage(thrown))}]`)
  }

  private addSettlement(id: number, settlement: string): void {
    if (this.settled || this.stopping !== undefined) return
    this.settledIds.push(id)
    // One text for all that settle in the same turn.
    if (this.settlements.push(settlement) === 1) queueMicrotask(() => this.sendSettlements())
  }

  private sendSettlements(): void {
    const text = settlementText(this.settledIds, this.settlements)
    this.settledIds = []
    this.settlements = []
    if (this.settled || this.stopping !== undefined) return
    this.thread.settle(text)
  }

  private stop(failure: Failure): void {
    if (this.settled || this.stopping !== undefined) return
    // What the worker has said before this moment counts, a finished run included.
    this.thread.drain()
    if (this.settled) return
    this.stopping = failure
    this.thread.stop(this.run)
    this.graceTimer = setTimeout(() => {
      this.thread.drain()
      this.end({ error: failure }, false)
    }, STOP_GRACE_MS)
  }

  private done({ run, logs, value, failure, spent }: Done): void {
    if (this.settled || run !== this.run) return
    this.addLogs(logs)
    const error = this.stopping ?? (failure === undefined ? undefined : this.told(failure))
    if (error !== undefined) this.end({ error }, !spent)
    else if (value === undefined) this.end({}, !spent)
    else this.end({ value: JSON.parse(value) as Json }, !spent)
  }

  private told({ kind, message, stack }: GuestFailure): Failure {
    const { request, erased } = this.plan
    if (kind === 'stopped') return { kind: 'runtime-exit', message: 'the run was stopped' }
    if (kind !== 'exception') return { kind, message }
    return { kind, message: describeException(request.program, erased, message, stack ?? '') }
  }

  private lost({ reason, outOfMemory, lastRun }: WorkerEnd): void {
    if (this.settled) return
    this.thread.drain()
    const failure: Failure = outOfMemory
      ? { kind: 'memory', message: `out of memory: ${reason}` }
      : { kind: 'runtime-exit', message: `the runtime ended before the program: ${reason}` }
    this.end({ error: this.stopping ?? failure }, false, lastRun !== undefined && lastRun < this.run)
  }

  private end(outcome: Pick<CodeRunResult, 'value' | 'error'>, reusable: boolean, neverStarted = false): void {
    if (this.settled) return
    this.settled = true
    clearTimeout(this.wallTimer)
    clearTimeout(this.graceTimer)
    this.plan.cancellation.listen(undefined)
    this.thread.listen(undefined)
    this.settle({ result: { ...outcome, logs: this.logs }, reusable, neverStarted })
  }
}
