// The sends of one terminal: what is typed line by line, what each waits for, and what it comes back with. One at a time.
import { MAX_DELAY_MS } from '@deepseek-ai/cordis'
import {
  TerminalError,
  type SendRequest,
  type SendResult,
  type TerminalPrompt,
  type TerminalStatus,
  type WaitReason,
} from '@deepseek-ai/dsh-terminal'
import type { TerminalPtyConfig } from './config.ts'
import type { InputWatch, Waiting } from './input-watch.ts'
import type { Screen } from './screen.ts'
import { endOf } from './text-end.ts'

export interface SendHost {
  readonly id: string
  readonly config: TerminalPtyConfig
  readonly screen: Screen
  readonly watch: InputWatch
  readonly status: TerminalStatus
  /** Throws `TERMINAL_EXITED`. */
  assertRunning(): void
  /** Rejects when nothing may be run in it any more. */
  admit(): Promise<void>
  type(keys: string): void
  /** Hides secrets. */
  mask(text: string): string
  /** Something was printed or has reached the program. */
  onActivity(listener: () => void): () => void
  onExit(listener: () => void): () => void
}

interface Settled {
  readonly reason: WaitReason
  readonly prompt?: TerminalPrompt | undefined
  readonly untyped?: readonly string[]
}

interface Limits {
  /** On the clock of `performance.now()`. */
  readonly deadline: number
  readonly idleMs: number
  readonly signal: AbortSignal | undefined
}

export class Sends {
  readonly #host: SendHost
  #sending = false

  constructor(host: SendHost) {
    this.#host = host
  }

  async send(request: SendRequest): Promise<SendResult> {
    const { id, config, screen } = this.#host
    const limits: Limits = {
      deadline: performance.now() + timeoutOf(request.timeoutMs ?? config.timeoutMs),
      idleMs: config.idleSilenceMs,
      signal: request.signal,
    }
    if (this.#sending) throw busy(id)
    this.#sending = true
    try {
      const lines = linesOf(request)
      if (lines.length > 0) {
        this.#host.assertRunning()
        await this.#host.admit()
        this.#host.assertRunning()
        if (request.signal?.aborted !== true) screen.transcript.begin()
      }
      return this.#result(await this.#typeAll(lines, limits))
    } finally {
      this.#sending = false
    }
  }

  /** Resolves once somebody waits for input or the program has ended, at the latest after `timeoutMs`. */
  async ready(timeoutMs: number): Promise<void> {
    await this.#settle({ deadline: performance.now() + timeoutMs, idleMs: MAX_DELAY_MS, signal: undefined })
  }

  /**
   * A line at a time, each when somebody waits for it. Note: what a line editor has not yet taken of several lines is handed to the command that it
   * starts as one piece, and most of that is lost. Nothing but the first line is typed where the answer is hidden.
   */
  async #typeAll(lines: readonly string[], limits: Limits): Promise<Settled> {
    for (const [at, line] of lines.entries()) {
      if (limits.signal?.aborted === true) return { reason: 'aborted', untyped: lines.slice(at) }
      this.#host.type(line)
      if (at === lines.length - 1) break
      const settled = await this.#settle({ ...limits, idleMs: MAX_DELAY_MS }, true)
      if (settled.reason === 'stdin-wait' && settled.prompt?.hidden !== true) continue
      return { ...settled, untyped: lines.slice(at + 1) }
    }
    return this.#settle(limits)
  }

  /** The first of what may end a send. */
  #settle({ deadline, idleMs, signal }: Limits, eager = false): Promise<Settled> {
    const host = this.#host
    const { status, watch } = host
    if (status.kind === 'exited') return Promise.resolve({ reason: 'exited' })
    if (signal?.aborted === true) return Promise.resolve({ reason: 'aborted' })
    return new Promise((resolve) => {
      const leave: (() => void)[] = []
      const end = (settled: Settled): void => {
        leave.splice(0).forEach((each) => each())
        resolve(settled)
      }
      const late = setTimeout(end, deadline - performance.now(), { reason: 'timeout' })
      const silent = setTimeout(end, idleMs, { reason: 'idle' })
      const onAbort = (): void => end({ reason: 'aborted' })
      signal?.addEventListener('abort', onAbort)
      leave.push(
        () => [late, silent].forEach(clearTimeout),
        () => signal?.removeEventListener('abort', onAbort),
        host.onActivity(() => void silent.refresh()),
        host.onExit(() => end({ reason: 'exited' })),
        watch.follow((waiting) => end({ reason: 'stdin-wait', prompt: promptOf(waiting) }), eager),
      )
    })
  }

  #result({ reason, prompt, untyped = [] }: Settled): SendResult {
    const { screen, config, status } = this.#host
    const since = screen.transcript.since()
    // What was told once is not told again.
    screen.transcript.begin()
    const { text, isCut } = endOf(this.#host.mask(since.text), config.maxReadBytes)
    return {
      text,
      truncated: since.truncated || isCut,
      reason,
      status,
      ...(prompt === undefined ? {} : { prompt }),
      ...(untyped.length === 0 ? {} : { untyped: untyped.join('').replaceAll('\r', '\n') }),
    }
  }
}

/** What is typed, a line with its Enter at a time. A text that ends with a line break needs no Enter more. */
function linesOf({ text, submit = true }: SendRequest): string[] {
  const typed = text.replaceAll(/\r\n?|\n/g, '\r')
  const keys = submit && !typed.endsWith('\r') ? `${typed}\r` : typed
  return keys.match(/[^\r]*\r|[^\r]+$/g) ?? []
}

function promptOf(waiting: Waiting): TerminalPrompt | undefined {
  return waiting.kind === 'program' ? waiting.prompt : undefined
}

function timeoutOf(milliseconds: number): number {
  if (milliseconds > 0) return Math.min(milliseconds, MAX_DELAY_MS)
  throw new TerminalError(
    `timeoutMs is ${milliseconds}; expected a positive number of milliseconds`,
    'TERMINAL_INVALID_REQUEST',
  )
}

function busy(id: string): TerminalError {
  return new TerminalError(`another send is waiting in ${id}; wait for it to come back`, 'TERMINAL_BUSY')
}
