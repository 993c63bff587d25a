// Which failures of a model request are worth another try, and when.
import type { LlmFailure, LlmFailureCode } from '@deepseek-ai/dsh-llm'
import type { AgentsConfig } from './config.ts'

const MAY_PASS: ReadonlySet<LlmFailureCode> = new Set<LlmFailureCode>([
  'SERVER',
  'TIMEOUT',
  'TRANSPORT',
  'STREAM_CLOSED',
  'EMPTY_RESPONSE',
  'MALFORMED_RESPONSE',
  'RATE_LIMIT',
])

/** Milliseconds to wait after the failed attempt number `attempt`; undefined when another try is of no use. */
export function retryDelay(failure: LlmFailure, attempt: number, config: AgentsConfig): number | undefined {
  if (!MAY_PASS.has(failure.code) || attempt > config.maxRetries) return undefined
  const { retryAfterMs } = failure
  if (retryAfterMs !== undefined) return retryAfterMs <= config.retryMaxMs ? Math.max(0, retryAfterMs) : undefined
  const full = Math.min(config.retryBaseMs * 2 ** (attempt - 1), config.retryMaxMs)
  return Math.round(full * (1 - config.retryJitter * Math.random()))
}

/** Waits, or returns early when the signal fires. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal.addEventListener('abort', done)
  })
}
