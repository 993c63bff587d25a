// Holds any adapter to the contract of a stream: never throws, one terminal chunk, nothing after it, a prompt end on abort.
import { errorCode, errorMessage } from '@deepseek-ai/cordis'
import { failureChunk, isFailureCode } from './errors.ts'
import type { LlmAdapter, LlmChunk, LlmRequest } from './types.ts'

/** Ends running streams of an adapter, so that unloading one leaves nobody waiting for it. */
export type StopStream = (ending: LlmChunk) => void

const STOPPED = Symbol('stopped')
// One reason for all: without it each abort would make a DOMException, stack included.
const OVER = new DOMException('the request is over', 'AbortError')

/**
 * Streams one request. `running` holds the stop function of the stream while it runs. The adapter gets a signal of its own
 * that also fires when the consumer stops reading.
 */
export async function* guardedStream(
  adapter: LlmAdapter,
  request: LlmRequest,
  running: Set<StopStream>,
): AsyncGenerator<LlmChunk, void, void> {
  const { signal } = request
  if (signal.aborted) {
    yield abortedChunk()
    return
  }
  const own = new LazySignal()
  let ending: LlmChunk | undefined
  let wake: ((stopped: typeof STOPPED) => void) | undefined
  const stop: StopStream = (chunk) => {
    ending ??= chunk
    own.abort(signal.reason)
    wake?.(STOPPED)
  }
  const onAbort = (): void => stop(abortedChunk())
  signal.addEventListener('abort', onAbort, { once: true })
  running.add(stop)
  const checker = new ChunkChecker(adapter.provider)
  let iterator: AsyncIterator<LlmChunk> | undefined
  try {
    // An own property, so that an adapter's copy of the request has the signal too.
    const guarded: LlmRequest = {
      ...request,
      get signal() {
        return own.signal
      },
    }
    iterator = adapter.stream(guarded)[Symbol.asyncIterator]()
    const source = iterator
    // Not Promise.race: its reactions would pile up on the long-lived abort promise, one a chunk.
    const read = (): Promise<IteratorResult<LlmChunk> | typeof STOPPED> =>
      new Promise((resolve, reject) => {
        wake = resolve
        source.next().then(resolve, reject)
      })
    for (;;) {
      const step = await read()
      if (step === STOPPED) break
      const chunk = step.done === true ? endedEarly(adapter.provider) : checker.check(step.value)
      if (isTerminal(chunk)) {
        // An answer that is already complete is not thrown away because of a late abort.
        if (chunk.type === 'finish') ending = chunk
        else ending ??= chunk
        break
      }
      if (ending !== undefined) break
      if (chunk !== undefined) yield chunk
      if (ending !== undefined) break
    }
  } catch (error) {
    ending ??= thrownChunk(adapter.provider, error)
  } finally {
    signal.removeEventListener('abort', onAbort)
    running.delete(stop)
    own.abort(OVER)
    release(iterator)
  }
  if (checker.usage !== undefined) yield checker.usage
  yield ending ?? endedEarly(adapter.provider)
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
