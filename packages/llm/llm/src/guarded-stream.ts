// Holds any adapter to the contract of a stream: never throws, one terminal chunk, nothing after it, a prompt end on abort.
import { errorCode, errorMessage } from '@deepseek-ai/cordis'
import { failureChunk, isFailureCode } from './errors.ts'
import type { LlmAdapter, LlmChunk, LlmRequest } from './types.ts'

/** Ends running streams of an adapter, so that unloading one leaves nobody waiting for it. */
export type StopStream = (ending: LlmChunk) => void

// One reason for all: without it each abort would make a DOMException, stack included.
const OVER = new DOMException('the request is over', 'AbortError')

/**
 * Streams one request. `running` holds the stop function of the stream while it runs. The adapter gets a signal of its own
 * that also fires when the consumer stops reading. Nothing is done before the first chunk is asked for.
 */
export function guardedStream(
  adapter: LlmAdapter,
  request: LlmRequest,
  running: Set<StopStream>,
): AsyncIterableIterator<LlmChunk> {
  return new GuardedStream(adapter, request, running)
}

type Read = IteratorResult<LlmChunk, undefined>

// Note: an async generator around another one costs three promises more a chunk.
class GuardedStream implements AsyncIterableIterator<LlmChunk> {
  private readonly adapter: LlmAdapter
  private readonly request: LlmRequest
  private readonly running: Set<StopStream>
  private readonly checker: ChunkChecker
  private readonly own = new LazySignal()
  private state: 'new' | 'open' | 'over' = 'new'
  private source: AsyncIterator<LlmChunk> | undefined
  /** Reads without an answer, oldest first: the source is asked for one chunk at a time. */
  private readonly reads: ((read: Read) => void)[] = []
  /** What is told once the stream is over. */
  private rest: LlmChunk[] = []

  constructor(adapter: LlmAdapter, request: LlmRequest, running: Set<StopStream>) {
    this.adapter = adapter
    this.request = request
    this.running = running
    this.checker = new ChunkChecker(adapter.provider)
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<Read> {
    return new Promise((resolve) => {
      this.reads.push(resolve)
      if (this.reads.length > 1) return
      if (this.state === 'new') this.open()
      if (this.state === 'open') this.pull()
      else this.answerRest()
    })
  }

  return(): Promise<Read> {
    if (this.state === 'open') this.close(OVER)
    this.state = 'over'
    this.rest = []
    this.answerRest()
    return Promise.resolve({ done: true, value: undefined })
  }

  private open(): void {
    const { adapter, request, running } = this
    const { signal } = request
    if (signal.aborted) {
      this.state = 'over'
      this.rest = [abortedChunk()]
      return
    }
    this.state = 'open'
    signal.addEventListener('abort', this.onAbort, { once: true })
    running.add(this.stop)
    try {
      this.source = adapter.stream(new GuardedRequest(request, this.own))[Symbol.asyncIterator]()
    } catch (error) {
      this.end(thrownChunk(adapter.provider, error))
    }
    if (this.ended) release(this.source)
  }

  private pull(): void {
    try {
      this.source!.next().then(this.onStep, this.onThrow)
    } catch (error) {
      this.onThrow(error)
    }
  }

  private readonly onStep = (step: IteratorResult<LlmChunk>): void => {
    if (this.ended) return
    let chunk: LlmChunk | undefined
    try {
      chunk = step.done === true ? endedEarly(this.adapter.provider) : this.checker.check(step.value)
    } catch (error) {
      this.onThrow(error)
      return
    }
    if (isTerminal(chunk)) {
      this.end(chunk)
      return
    }
    if (chunk !== undefined) this.reads.shift()?.({ done: false, value: chunk })
    if (this.reads.length > 0) this.pull()
  }

  private readonly onThrow = (error: unknown): void => this.end(thrownChunk(this.adapter.provider, error))
  private readonly onAbort = (): void => this.stop(abortedChunk())
  private readonly stop: StopStream = (chunk) => this.end(chunk, this.request.signal.reason)

  /** By a method: the compiler does not see that a call may have ended the stream. */
  private get ended(): boolean {
    return this.state === 'over'
  }

  /** The first ending counts. */
  private end(ending: LlmChunk, reason: unknown = OVER): void {
    if (this.ended) return
    this.close(reason)
    const { usage } = this.checker
    this.rest = usage === undefined ? [ending] : [usage, ending]
    this.answerRest()
  }

  private close(reason: unknown): void {
    this.state = 'over'
    this.request.signal.removeEventListener('abort', this.onAbort)
    this.running.delete(this.stop)
    this.own.abort(reason)
    release(this.source)
  }

  private answerRest(): void {
    for (let read = this.reads.shift(); read !== undefined; read = this.reads.shift()) {
      const value = this.rest.shift()
      read(value === undefined ? { done: true, value } : { done: false, value })
    }
  }
}

/** What the adapter gets: the request, with the stream's signal in place of the caller's. */
class GuardedRequest {
  readonly #own: LazySignal
  declare readonly provider: string
  declare readonly model: string
  declare readonly system: string
  declare readonly tools: LlmRequest['tools']
  declare readonly messages: LlmRequest['messages']
  declare readonly signal: AbortSignal
  declare readonly sessionId: string

  constructor({ signal: _callers, ...request }: LlmRequest, own: LazySignal) {
    this.#own = own
    // An own property, so that an adapter's copy of the request has the signal too. With one getter for all requests they
    // share a shape, which a getter in an object literal would not let them.
    Object.defineProperty(this, 'signal', GuardedRequest.signal)
    Object.assign(this, request)
  }

  private static readonly signal: PropertyDescriptor & ThisType<GuardedRequest> = {
    enumerable: true,
    configurable: true,
    get() {
      return this.#own.signal
    },
  }
}

/** Made when an adapter first reads it: a signal and its abort cost more than the rest of a short stream. */
class LazySignal {
  private controller: AbortController | undefined
  private reason: { readonly value: unknown } | undefined

  get signal(): AbortSignal {
    if (this.controller === undefined) {
      this.controller = new AbortController()
      if (this.reason !== undefined) this.controller.abort(this.reason.value)
    }
    return this.controller.signal
  }

  /** The first reason wins. */
  abort(reason: unknown): void {
    this.reason ??= { value: reason }
    this.controller?.abort(reason)
  }
}

function isTerminal(chunk: LlmChunk | undefined): chunk is LlmChunk & { type: 'finish' | 'error' } {
  return chunk?.type === 'finish' || chunk?.type === 'error'
}

/** Lets the adapter clean up. Not awaited: an adapter that hangs must not hold the caller. */
function release(iterator: AsyncIterator<LlmChunk> | undefined): void {
  try {
    iterator?.return?.()?.then(undefined, () => {}) // the stream has ended already; what its clean-up says is of no use
  } catch {
    // the same, thrown synchronously
  }
}

/** Follows one stream: drops empty deltas, keeps usage for the end, refuses what no consumer could assemble. */
class ChunkChecker {
  usage: LlmChunk | undefined
  private readonly provider: string
  private readonly calls = new Set<number>()

  constructor(provider: string) {
    this.provider = provider
  }

  /** The chunk to pass on, a failure in its place, or undefined for none. */
  check(chunk: LlmChunk): LlmChunk | undefined {
    switch (chunk?.type) {
      case 'text':
      case 'reasoning':
        return chunk.text === '' ? undefined : chunk
      case 'tool-call':
        return this.checkCall(chunk)
      case 'usage':
        this.usage = chunk // the newest counts are the whole answer's
        return undefined
      case 'finish':
      case 'error':
        return chunk
      default:
        return failureChunk('UNKNOWN', `the adapter of "${this.provider}" produced an unknown chunk`)
    }
  }

  private checkCall(chunk: LlmChunk & { type: 'tool-call' }): LlmChunk {
    if (this.calls.has(chunk.index)) return chunk
    if (!chunk.id || !chunk.name) {
      return failureChunk('MALFORMED_RESPONSE', `"${this.provider}" started a tool call without an id and a name`)
    }
    this.calls.add(chunk.index)
    return chunk
  }
}

function abortedChunk(): LlmChunk {
  return failureChunk('ABORTED', 'The request was cancelled.')
}

function endedEarly(provider: string): LlmChunk {
  return failureChunk('STREAM_CLOSED', `The answer of "${provider}" ended before it was complete; try again.`)
}

function thrownChunk(provider: string, error: unknown): LlmChunk {
  const code = errorCode(error)
  return failureChunk(
    isFailureCode(code) ? code : 'UNKNOWN',
    `The adapter of "${provider}" failed: ${errorMessage(error)}`,
  )
}
