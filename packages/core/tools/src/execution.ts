// One call: its protected identity, and the signal its body sees. Knows nothing of stages or policies.
import type { ScopeKey } from '@deepseek-ai/cordis'
import type { Json } from './presentation.ts'
import type { ExecutionToken, ToolAgent, ToolExecution, ToolProgress, WrappedExecution } from './types.ts'

export type CallingAgent = (ToolAgent & ScopeKey) | undefined

/** The internal record of a call. Listeners and bodies get one of the two views below, never this. */
export class Call {
  readonly callId: string
  readonly name: string
  readonly arguments: Json
  readonly agent: CallingAgent
  readonly parent: ExecutionToken | undefined
  readonly token: ExecutionToken = Symbol('tool call')
  /** The caller's cancellation. */
  readonly callerSignal: AbortSignal
  /** What a wrapper put in its place; the body still hears the caller. */
  wrapperSignal: AbortSignal
  /** Set once the body of this call has been entered at least once. */
  dispatched = false
  settled = false
  readonly view: ToolExecution
  private readonly onReport: ((progress: ToolProgress) => void) | undefined
  private body: BodyRun | undefined

  constructor(
    identity: {
      callId: string
      name: string
      arguments: Json
      agent: CallingAgent
      parent: ExecutionToken | undefined
    },
    signal: AbortSignal,
    onReport: ((progress: ToolProgress) => void) | undefined,
  ) {
    this.callId = identity.callId
    this.name = identity.name
    this.arguments = identity.arguments
    this.agent = identity.agent
    this.parent = identity.parent
    this.callerSignal = signal
    this.wrapperSignal = signal
    this.onReport = onReport
    this.view = new ExecutionView(this)
  }

  /** What `exec.signal` reads right now: the running body's own signal, otherwise the one in force around it. */
  currentSignal(): AbortSignal {
    return this.body === undefined ? this.wrapperSignal : this.body.signal
  }

  /** True when the caller or a wrapper has cancelled. */
  get cancelled(): boolean {
    return this.callerSignal.aborted || this.wrapperSignal.aborted
  }

  /** Prepares the signal of one body run; undefined when the caller's own signal will do. */
  startBody(timeoutMs: number | undefined): BodyRun | undefined {
    this.dispatched = true
    if (timeoutMs === undefined && this.wrapperSignal === this.callerSignal) return undefined
    return (this.body = new BodyRun(this.callerSignal, this.wrapperSignal, timeoutMs))
  }

  endBody(): void {
    this.body?.release()
    this.body = undefined
  }

  report(progress: ToolProgress): void {
    if (!this.settled) this.onReport?.(progress)
  }
}

/**
 * The cancellation of one body run. The signal is made when it is first read: most bodies never look at it, and a
 * controller costs more than the rest of a trivial call.
 */
export class BodyRun {
  private readonly startedAt = performance.now()
  private readonly caller: AbortSignal
  private readonly wrapper: AbortSignal
  private readonly timeoutMs: number | undefined
  private controller: AbortController | undefined
  private timer: NodeJS.Timeout | undefined
  private expired = false

  constructor(caller: AbortSignal, wrapper: AbortSignal, timeoutMs: number | undefined) {
    this.caller = caller
    this.wrapper = wrapper
    this.timeoutMs = timeoutMs
  }

  get signal(): AbortSignal {
    return (this.controller ??= this.fuse()).signal
  }

  /** True when the body was still running at its deadline. */
  get timedOut(): boolean {
    if (this.timeoutMs === undefined) return false
    return this.expired || performance.now() - this.startedAt >= this.timeoutMs
  }

  release(): void {
    if (this.timer !== undefined) clearTimeout(this.timer)
    if (this.controller === undefined) return
    this.caller.removeEventListener('abort', this.forward)
    this.wrapper.removeEventListener('abort', this.forward)
  }

  private fuse(): AbortController {
    const controller = new AbortController()
    const aborted = this.caller.aborted ? this.caller : this.wrapper.aborted ? this.wrapper : undefined
    if (aborted !== undefined) {
      controller.abort(aborted.reason)
      return controller
    }
    this.caller.addEventListener('abort', this.forward)
    if (this.wrapper !== this.caller) this.wrapper.addEventListener('abort', this.forward)
    if (this.timeoutMs !== undefined) this.armDeadline(controller, this.timeoutMs)
    return controller
  }

  private readonly forward = (event: Event): void => {
    this.controller?.abort((event.target as AbortSignal).reason)
  }

  private armDeadline(controller: AbortController, timeoutMs: number): void {
    const left = timeoutMs - (performance.now() - this.startedAt)
    // Note: setTimeout fires at once for delays past 2^31-1 ms; such a deadline is far enough away to leave to the clock check.
    if (left > 2_147_483_647) return
    this.timer = setTimeout(() => {
      this.expired = true
      controller.abort(new DOMException(`tool call timed out after ${timeoutMs}ms`, 'TimeoutError'))
    }, left)
  }
}

/** What bodies, guards and listeners see. Frozen, so identity holds against any of them. */
class ExecutionView implements ToolExecution {
  readonly callId: string
  readonly name: string
  readonly arguments: Json
  readonly agent: CallingAgent
  readonly token: ExecutionToken
  readonly parent: ExecutionToken | undefined
  readonly #call: Call

  constructor(call: Call) {
    this.#call = call
    this.callId = call.callId
    this.name = call.name
    this.arguments = call.arguments
    this.agent = call.agent
    this.token = call.token
    this.parent = call.parent
    Object.freeze(this)
  }

  get signal(): AbortSignal {
    return this.#call.currentSignal()
  }

  report(progress: ToolProgress): void {
    this.#call.report(progress)
  }
}

/** What a `tools/execute` wrapper sees: the same identity with a signal it may replace. */
export class WrapperView implements WrappedExecution {
  readonly callId: string
  readonly name: string
  readonly arguments: Json
  readonly agent: CallingAgent
  readonly token: ExecutionToken
  readonly parent: ExecutionToken | undefined
  readonly #call: Call

  constructor(call: Call) {
    this.#call = call
    this.callId = call.callId
    this.name = call.name
    this.arguments = call.arguments
    this.agent = call.agent
    this.token = call.token
    this.parent = call.parent
    Object.freeze(this)
  }

  get signal(): AbortSignal {
    return this.#call.wrapperSignal
  }

  set signal(signal: AbortSignal) {
    if (!(signal instanceof AbortSignal)) {
      throw new TypeError(`exec.signal may be replaced by another AbortSignal, not removed (got ${describe(signal)})`)
    }
    this.#call.wrapperSignal = signal
  }

  report(progress: ToolProgress): void {
    this.#call.report(progress)
  }
}

// Accessors live on the prototypes: freezing them keeps a listener from changing what every later call sees.
Object.freeze(ExecutionView.prototype)
Object.freeze(WrapperView.prototype)

function describe(value: unknown): string {
  return value === null ? 'null' : typeof value
}
