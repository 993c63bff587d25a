// One run of a body: its signal, its deadline, the grace period after either, and what the body said besides its value.
import { onAbort } from './abort-hub.ts'
import { BodyView, type Call } from './execution.ts'
import { snapshotJson } from './json.ts'
import { isContextMessage } from './policy.ts'
import type { JsonSchema } from './schema/types.ts'
import type { ContextMessage, ToolBodyExecution } from './types.ts'

/** Note: setTimeout fires at once for longer delays. */
const MAX_TIMER_MS = 2_147_483_647

export type BodyOutcome =
  | { readonly kind: 'returned'; readonly value: unknown }
  | { readonly kind: 'threw'; readonly error: unknown }
  | { readonly kind: 'abandoned' }

/** To wait for is to let pass what has settled already. */
const NOTHING = Promise.resolve()

const ABANDONED: BodyOutcome = { kind: 'abandoned' }

/**
 * The signal is made when it is first read: most bodies never look at it, and a controller costs more than the rest of a
 * trivial call.
 */
export class BodyRun {
  concludesTurn = false
  readonly view: ToolBodyExecution
  private deferred: ContextMessage[] | undefined
  private readonly call: Call
  /** The wrapper's signal as it was when the body started; a wrapper that puts the old one back does not cut the body off. */
  private readonly wrapper: AbortSignal
  private readonly timeoutMs: number | undefined
  private readonly startedAt: number
  private expired = false
  private controller: AbortController | undefined

  constructor(call: Call, timeoutMs: number | undefined) {
    this.call = call
    this.wrapper = call.wrapperSignal
    this.timeoutMs = timeoutMs
    this.startedAt = timeoutMs === undefined ? 0 : performance.now()
    this.view = new BodyView(call, this)
  }

  /** Fires when the caller or the wrapper cancels and at the deadline. */
  get signal(): AbortSignal {
    const { callerSignal } = this.call
    if (this.timeoutMs === undefined && this.wrapper === callerSignal) return callerSignal
    if (this.controller === undefined) {
      this.controller = new AbortController()
      if (this.cancelled || this.timedOut) this.controller.abort(this.reason)
    }
    return this.controller.signal
  }

  /** True when the caller or the wrapper cancelled before the deadline, whether or not the body looked: the first cause counts. */
  get cancelled(): boolean {
    return !this.expired && (this.call.callerSignal.aborted || this.wrapper.aborted)
  }

  /** True when the body was still running at its deadline. */
  get timedOut(): boolean {
    if (this.timeoutMs === undefined) return false
    return this.expired || performance.now() - this.startedAt >= this.timeoutMs
  }

  hasMatched(schema: JsonSchema): boolean {
    return this.call.matched === schema
  }

  get contexts(): readonly ContextMessage[] | undefined {
    return this.deferred
  }

  deferContext(message: ContextMessage): void {
    if (!isContextMessage(message)) throw new TypeError('exec.deferContext() needs a message {content, source}')
    const copy = snapshotJson(message) as unknown as ContextMessage
    if (this.deferred === undefined) this.deferred = [copy]
    else this.deferred.push(copy)
  }

  /**
   * Waits for the body, but not for ever: `graceMs` after cancellation or deadline it is given up. A deadline cancels the body;
   * one that is given up keeps running, and `onLate` is told when it settles after all.
   */
  async settle(
    promise: Promise<unknown>,
    graceMs: number,
    onLate: (outcome: BodyOutcome) => void,
  ): Promise<BodyOutcome> {
    let settled: BodyOutcome | undefined
    try {
      promise.then(
        (value) => (settled = { kind: 'returned', value }),
        (error: unknown) => (settled = { kind: 'threw', error }),
      )
    } catch (error) {
      return { kind: 'threw', error } // a subclass with a `then` of its own
    }
    // Many a body is done when it returns its promise, and needs neither listeners nor timers.
    await NOTHING
    return settled ?? this.watch(promise, graceMs, onLate)
  }

  private watch(
    promise: Promise<unknown>,
    graceMs: number,
    onLate: (outcome: BodyOutcome) => void,
  ): Promise<BodyOutcome> {
    return new Promise((resolve) => {
      let grace: NodeJS.Timeout | undefined
      let abandoned = false
      const startGrace = (): void => {
        this.controller?.abort(this.reason)
        grace ??= setTimeout(() => {
          abandoned = true
          release()
          resolve(ABANDONED)
        }, graceMs)
      }
      const leaveCaller = onAbort(this.call.callerSignal, startGrace)
      const leaveWrapper = this.wrapper === this.call.callerSignal ? undefined : onAbort(this.wrapper, startGrace)
      const deadline = this.armDeadline(startGrace)
      const release = (): void => {
        leaveCaller()
        leaveWrapper?.()
        if (deadline !== undefined) clearTimeout(deadline)
        if (grace !== undefined) clearTimeout(grace)
      }
      const finish = (outcome: BodyOutcome): void => {
        if (abandoned) return onLate(outcome)
        release()
        resolve(outcome)
      }
      // A body that cancels its own call does so before anybody listens; the platform does not tell that a second time.
      if (this.cancelled) startGrace()
      try {
        promise.then(
          (value) => finish({ kind: 'returned', value }),
          (error: unknown) => finish({ kind: 'threw', error }),
        )
      } catch (error) {
        finish({ kind: 'threw', error }) // a subclass with a `then` of its own
      }
    })
  }

  private armDeadline(onExpiry: () => void): NodeJS.Timeout | undefined {
    if (this.timeoutMs === undefined || this.timeoutMs > MAX_TIMER_MS) return undefined
    const spent = performance.now() - this.startedAt // by what the body did before it first waited
    const expire = (): void => {
      this.expired = !this.cancelled
      onExpiry()
    }
    return setTimeout(expire, Math.max(0, this.timeoutMs - spent))
  }

  private get reason(): unknown {
    const { callerSignal } = this.call
    if (this.cancelled) return callerSignal.aborted ? callerSignal.reason : this.wrapper.reason
    return new DOMException(`tool call timed out after ${this.timeoutMs}ms`, 'TimeoutError')
  }
}
