// The adapter: streams what reply.ts decided in small pieces. Counts no tokens, so it reports none.
import { setImmediate, setTimeout } from 'node:timers/promises'
import { OFFLINE_PROVIDER, failureChunk, type LlmAdapter, type LlmChunk, type LlmRequest } from '@deepseek-ai/dsh-llm'
import { reply } from './reply.ts'

const MODEL = 'offline'
const PIECE_LENGTH = 24

export function offlineAdapter(delayMs: number): LlmAdapter {
  return {
    provider: OFFLINE_PROVIDER,
    status: () => ({
      provider: OFFLINE_PROVIDER,
      label: 'Offline (built in)',
      configured: true,
      models: [{ provider: OFFLINE_PROVIDER, id: MODEL, name: 'Offline' }],
      configurable: false,
    }),
    stream: (request) => answer(request, delayMs),
  }
}

async function* answer(request: LlmRequest, delayMs: number): AsyncGenerator<LlmChunk, void, void> {
  if (request.model !== MODEL) {
    yield failureChunk('UNKNOWN_MODEL', `The offline provider has one model, "offline", not "${request.model}".`)
    return
  }
  const { signal } = request
  for (const chunk of chunksOf(request)) {
    try {
      if (delayMs > 0) await setTimeout(delayMs, undefined, { signal })
      else await setImmediate(undefined, { signal })
    } catch {
      // the timers reject only when the signal fires
      yield failureChunk('ABORTED', 'The request was cancelled.')
      return
    }
    yield chunk
  }
}

function* chunksOf(request: LlmRequest): Generator<LlmChunk, void, void> {
  const { text, calls } = reply(request)
  for (const piece of pieces(text)) yield { type: 'text', text: piece }
  for (const [index, call] of calls.entries()) {
    const [first = '', ...rest] = pieces(call.arguments)
    yield { type: 'tool-call', index, id: call.id, name: call.name, argumentsDelta: first }
    for (const piece of rest) yield { type: 'tool-call', index, argumentsDelta: piece }
  }
  yield { type: 'finish', reason: calls.length > 0 ? 'tool-calls' : 'stop' }
}

/** Cuts on code points: half a surrogate pair is not text. Long texts get longer pieces, so that a stream stays short. */
function pieces(text: string): string[] {
  const characters = Array.from(text)
  const length = Math.max(PIECE_LENGTH, Math.ceil(characters.length / 200))
  const result: string[] = []
  for (let start = 0; start < characters.length; start += length) {
    result.push(characters.slice(start, start + length).join(''))
  }
  return result
}
