// One job: its state, its facts, and the output that waits to be read. Knows neither owners nor logs.
import { errorMessage } from '@deepseek-ai/cordis'
import { oneLine } from './text.ts'
import type { JobEnd, JobFacts, JobOutput, JobRow, JobWork } from './types.ts'

const NO_OUTPUT: JobOutput = { text: '', lossy: false }
/** Below this much room a second piece is not worth asking for. */
const MIN_PIECE_BYTES = 256
const LABEL_POINTS = 1000

export interface JobParts {
  readonly id: string
  readonly kind: string
  readonly label: string
  readonly callId: string | undefined
  readonly outputLimitBytes: number
  /** Where the faults of a producer go. */
  readonly report: (problem: string) => void
}

export class Job {
  readonly id: string
  readonly kind: string
  readonly label: string
  readonly callId: string | undefined
  readonly startedAt = Date.now()
  /** Resolves after the end is known. Never rejects. */
  readonly settled: Promise<void>
  reported = false
  acknowledged = false
  /** The owner killed it and was not told yet that this left processes running. */
  killedByOwner = false
  end: JobEnd | undefined
  private endedAt: number | undefined
  private readonly work: JobWork
  private readonly limit: number
  private readonly report: JobParts['report']
  private readonly waiters = new Set<() => void>()
  private stopping = false
  private survivors: NonNullable<JobEnd['survivors']> = []
  /** Taken from the producer to see whether there is any, and not read yet. */
  private ahead: JobOutput | undefined

  constructor({ id, kind, label, callId, outputLimitBytes, report }: JobParts, work: JobWork) {
    this.id = id
    this.kind = kind
    this.label = oneLine(label, LABEL_POINTS)
    this.callId = callId
    this.limit = outputLimitBytes
    this.report = report
    this.work = work
    this.settled = Promise.resolve(work.done).then(
      (end) => this.finish(endOf(end)),
      (error: unknown) => this.finish({ status: 'failed', detail: oneLine(errorMessage(error), LABEL_POINTS) }),
    )
  }

  get ended(): boolean {
    return this.end !== undefined
  }

  get readable(): boolean {
    return this.work.readOutput !== undefined
  }

  /** Asks the work to stop; may be asked again. */
  cancel(reason: string | undefined): void {
    if (this.ended) return
    this.stopping = true
    try {
      this.work.cancel(reason)
    } catch (error) {
      this.report(`cancelling job ${this.id} failed: ${errorMessage(error)}`)
    }
  }

  row(): JobRow {
    const { id, kind, label, startedAt, endedAt, callId, end } = this
    const status = end?.status ?? (this.stopping ? 'stopping' : 'running')
    const facts = this.facts()
    return {
      id,
      kind,
      label,
      status,
      ...(end === undefined || end.detail === '' ? {} : { detail: end.detail }),
      startedAt,
      ...(endedAt === undefined ? {} : { endedAt }),
      facts,
      ...(this.survivors.length === 0 ? {} : { survivors: this.survivors }),
      ...(callId === undefined ? {} : { callId }),
    }
  }

  /** True when a read would give something. */
  hasOutput(): boolean {
    if (this.ahead !== undefined) return true
    const piece = this.take(this.limit)
    if (piece.text === '' && !piece.lossy) return false
    this.ahead = piece
    return true
  }

  read(): JobOutput {
    const first = this.ahead
    if (first === undefined) return this.take(this.limit)
    this.ahead = undefined
    const room = this.limit - Buffer.byteLength(first.text)
    return room < MIN_PIECE_BYTES ? first : joined(first, this.take(room))
  }

  peek(maxBytes: number): string {
    try {
      return this.work.peekOutput?.(maxBytes) ?? ''
    } catch (error) {
      this.report(`peeking at job ${this.id} failed: ${errorMessage(error)}`)
      return ''
    }
  }

  /** Called once when the job ends, or is given up by `release()`. */
  onEnd(listener: () => void): () => void {
    this.waiters.add(listener)
    return () => void this.waiters.delete(listener)
  }

  /** Lets go of whoever waits for an end that may never come. */
  release(): void {
    const waiters = [...this.waiters]
    this.waiters.clear()
    for (const waiter of waiters) waiter()
  }

  private finish(end: JobEnd): void {
    this.end = end
    this.endedAt = Date.now()
    this.survivors = end.survivors ?? []
    this.release()
  }

  private facts(): JobFacts {
    const { ended, reported, acknowledged } = this
    // Once gone is gone for good: a process that later gets the same id is none of ours.
    this.survivors = this.survivors.filter(({ pid }) => isAlive(pid))
    const treeQuiet = ended && this.survivors.length === 0
    const outputRead = ended && !this.hasOutput()
    return { ended, treeQuiet, outputRead, reported, acknowledged }
  }

  private take(maxBytes: number): JobOutput {
    try {
      return this.work.readOutput?.(maxBytes) ?? NO_OUTPUT
    } catch (error) {
      this.report(`reading job ${this.id} failed: ${errorMessage(error)}`)
      return NO_OUTPUT
    }
  }
}

function joined(first: JobOutput, second: JobOutput): JobOutput {
  const files = [...new Set([...(first.files ?? []), ...(second.files ?? [])])]
  return {
    text: first.text + second.text,
    lossy: first.lossy || second.lossy,
    ...(files.length === 0 ? {} : { files }),
  }
}

const STATUSES: readonly unknown[] = ['completed', 'failed', 'killed'] satisfies JobEnd['status'][]

/** A producer may be anyone's: an end that says nothing is a failure, not a success. */
function endOf(end: JobEnd): JobEnd {
  const { status, detail, survivors } = Object(end) as Partial<JobEnd>
  if (!STATUSES.includes(status)) return { status: 'failed', detail: 'the producer did not say how it ended' }
  return {
    status: status as JobEnd['status'],
    detail: typeof detail === 'string' ? oneLine(detail, LABEL_POINTS) : '',
    ...(Array.isArray(survivors) && survivors.length > 0 ? { survivors } : {}),
  }
}

function isAlive(pid: number): boolean {
  if (!(pid > 0)) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
