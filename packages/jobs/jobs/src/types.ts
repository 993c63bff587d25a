// The contract of background jobs: what a producer supplies, what is known of a job, what the service does. No behaviour lives here.
import type { ScopeKey } from '@deepseek-ai/cordis'
import type { ToolAgent, ToolExecution } from '@deepseek-ai/dsh-tools'

export type JobOwner = ToolAgent & ScopeKey

/** `failed`: the work could not be done. A command that exits 1 has `completed`; its detail says `exit code: 1`. */
export type JobEnd = {
  readonly status: 'completed' | 'failed' | 'killed'
  /** One line, e.g. `exit code: 0`, `signal: SIGKILL`. */
  readonly detail: string
  /** Processes of the job that still run although it has ended. */
  readonly survivors?: readonly { readonly pid: number; readonly command: string }[]
}

/** A piece of output, formatted and bounded by the producer. Reading consumes it. */
export interface JobOutput {
  readonly text: string
  /** Some output was dropped from memory before it was read. */
  readonly lossy: boolean
  /** Files that hold the whole output. */
  readonly files?: readonly string[]
}

/** What a producer's `run()` hands over. */
export interface JobWork {
  /** Asks the work to stop. Synchronous; must not throw; may be called more than once. */
  cancel(reason?: string): void
  /** Settles once the work has ended and its resources are given back. Must not reject. */
  readonly done: Promise<JobEnd>
  /** Output since the last call, at most `maxBytes`. Omitted: the job has none. */
  readOutput?(maxBytes: number): JobOutput
  /** The newest output without consuming it, for people that watch: whole lines, at most `maxBytes`. */
  peekOutput?(maxBytes: number): string
}

export interface JobSpec {
  /** First part of the id: `bash` makes `bash-1`. Lower-case letters, digits and dashes. */
  readonly kind: string
  /** One line for people, e.g. the command. */
  readonly label: string
  /** The agent whose job it is: alone may see it, and it ends with it. Omitted: the host's own. */
  readonly owner?: JobOwner | undefined
  /** The call that starts the job: a call that was cancelled before is refused with its own reason. */
  readonly signal?: AbortSignal | undefined
  /** Id of that call, for hosts that show the job with it. */
  readonly callId?: string | undefined
  /** Upper bound of one read, in bytes. Default: the service's. */
  readonly outputLimitBytes?: number
  /** Called synchronously, after every check has passed. A throw fails `start()` and leaves no job. */
  run(id: string): JobWork
}

/**
 * Independent facts of one job. They come in this order, and none stands for another: a shell may have ended while what it started
 * goes on, and a person may know that without the model having been told.
 */
export interface JobFacts {
  /** The producer's work has settled. */
  readonly ended: boolean
  /** Nothing that it started still runs. */
  readonly treeQuiet: boolean
  /** Every byte of output has been read or dropped. */
  readonly outputRead: boolean
  /** The owner was told of the end. */
  readonly reported: boolean
  /** The owner has read the end (`job_output` after it) or killed the job. */
  readonly acknowledged: boolean
}

export interface JobRow {
  readonly id: string
  readonly kind: string
  readonly label: string
  readonly status: 'running' | 'stopping' | JobEnd['status']
  readonly detail?: string
  readonly startedAt: number
  readonly endedAt?: number
  readonly facts: JobFacts
  /** Processes that went on after its end and still do. */
  readonly survivors?: JobEnd['survivors']
  /** The call that started it, or that it was promoted from. */
  readonly callId?: string
}

/** Who asks for a kill. An owner that killed its job needs no telling of its end; one whose job a person killed does. */
export type JobKiller = 'owner' | 'person'

/** A running foreground call that can go on as a job. */
export interface Promotable {
  readonly callId: string
  readonly owner: JobOwner | undefined
  readonly label: string
  /** Turns it into a job; returns its id. Throws `JobsError` when it cannot, e.g. at the cap. */
  promote(by: 'person' | 'timeout'): string
}

export interface JobWait {
  readonly timeoutMs: number
  readonly signal?: AbortSignal
  /** What ends the wait besides the end of the job. Default `output`. */
  readonly until?: 'output' | 'end'
}

/** `ctx.jobs` */
export interface JobService {
  /** Throws `JobsError`, or the signal's reason. Once the id is out, only `kill`, the owner's end and the service's end stop the work. */
  start(spec: JobSpec): string
  /** Jobs of an owner, oldest first. */
  list(owner: JobOwner | undefined): JobRow[]
  get(owner: JobOwner | undefined, id: string): JobRow | undefined
  /** New output, consumed, with the row as of then. Throws `JOB_NOT_FOUND`, also for another owner's job. */
  read(owner: JobOwner | undefined, id: string): { readonly row: JobRow; readonly output: JobOutput }
  /** The newest output, nothing consumed: for people. */
  peek(owner: JobOwner | undefined, id: string): string
  /**
   * Resolves when the job has ended, new output is there, the time is over or the signal fires, whichever is first. With `until: 'end'`
   * output does not count. Consumes nothing. Rejects with `JOB_NOT_FOUND`.
   */
  wait(owner: JobOwner | undefined, id: string, options: JobWait): Promise<JobRow>
  /**
   * Asks a job to stop and returns at once; the row then says `stopping`. False when it had ended. Throws `JOB_NOT_FOUND`. `by` defaults
   * to the owner.
   */
  kill(owner: JobOwner | undefined, id: string, reason?: string, by?: JobKiller): boolean
  /** Announces a foreground call that may be promoted, until the returned function is called. */
  promotable(entry: Promotable): () => void
  /** Calls that a person may promote. */
  promotables(owner: JobOwner | undefined): readonly Pick<Promotable, 'callId' | 'label'>[]
  /** Promotes by call id; returns the job's id. Throws `JOB_NOT_FOUND`. */
  promote(owner: JobOwner | undefined, callId: string): string
  /** Called after each change of an owner's rows or promotable calls. */
  subscribe(listener: (owner: JobOwner | undefined) => void): () => void
}

export interface JobsConfig {
  /** Jobs that an owner may have running at once. Default 10. */
  maxRunningPerOwner: number
  /** Ended jobs that are kept for an owner; the oldest acknowledged one goes first. Default 50. */
  maxKeptPerOwner: number
  /** Upper bound of one read, in bytes. Default 32,768. */
  outputLimitBytes: number
  /**
   * How an owner learns of an end that it has not read: `wakeup` starts a turn of an idle agent, `quiet` waits for its next request.
   * A busy agent gets it with the next request either way. Default `wakeup`.
   */
  completionDelivery: 'wakeup' | 'quiet'
  /** Turns in a row that only completions started; later ones wait for a person. Default 3. */
  maxConsecutiveWakes: number
  /** How long disposal waits for a job that was cancelled, in milliseconds. Default 5000. */
  stopTimeoutMs: number
}

export type { ToolExecution }
