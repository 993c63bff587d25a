// One model request: reads its stream to the end, to a failure or to the cancellation. Decides nothing about retries.
import { errorMessage } from '@deepseek-ai/cordis'
import type { AssistantBlock, LlmChunk, LlmFailure, TokenUsage, ToolCallBlock } from '@deepseek-ai/dsh-llm'
import type { ActiveTurn } from './active-turn.ts'
import { AnswerDraft } from './answer.ts'
import type { LoopParts } from './loop-parts.ts'

export interface Answer {
  readonly kind: 'answer'
  readonly finish: 'stop' | 'tool-calls' | 'max-tokens'
  readonly content: readonly AssistantBlock[]
  readonly calls: readonly ToolCallBlock[]
  readonly usage: TokenUsage | undefined
}

export type AttemptOutcome =
  | Answer
  | { readonly kind: 'failure'; readonly failure: LlmFailure }
  /** `content` is what was visible by then. */
  | { readonly kind: 'cancelled'; readonly content: readonly AssistantBlock[]; readonly usage: TokenUsage | undefined }

type Terminal = LlmChunk & { type: 'finish' | 'error' }

/** Never rejects, and settles on abort even when the stream does not. */
export async function readAnswer(
  { callIds, live }: Pick<LoopParts, 'callIds' | 'live'>,
  open: () => AsyncIterable<LlmChunk>,
  active: ActiveTurn,
): Promise<AttemptOutcome> {
  const draft = new AnswerDraft(callIds, live)
  const cancelled = (): AttemptOutcome => ({ kind: 'cancelled', content: draft.visible(), usage: draft.usage })
  let end: Terminal | undefined
  try {
    end = await readChunks(open(), active, draft)
  } catch (error) {
    if (active.cancelled !== undefined) return cancelled()
    return failure('STREAM_CLOSED', `The model's stream broke: ${errorMessage(error)}`)
  }
  if (end?.type === 'finish') return finished(draft, end.reason)
  if (active.cancelled !== undefined) return cancelled()
  if (end?.type === 'error') return { kind: 'failure', failure: end.failure }
  return failure('STREAM_CLOSED', "The model's answer ended before it was complete.")
}

/** The terminal chunk; undefined when the stream ended without one or was cancelled. */
async function readChunks(
  stream: AsyncIterable<LlmChunk>,
  active: ActiveTurn,
  draft: AnswerDraft,
): Promise<Terminal | undefined> {
  const iterator = stream[Symbol.asyncIterator]()
  let forget: (() => void) | undefined
  try {
    if (active.cancelled !== undefined) return undefined
    // One promise a stream instead of two a chunk. Not Promise.race: a stream may never answer an abort.
    return await new Promise<Terminal | undefined>((resolve, reject) => {
      forget = active.onCancel(() => resolve(undefined))
      const read = (): void => {
        if (active.cancelled === undefined) iterator.next().then(take, reject)
      }
      const take = (step: IteratorResult<LlmChunk>): void => {
        if (active.cancelled !== undefined) return
        try {
          const end = step.done === true ? 'early' : accept(draft, step.value)
          if (end === undefined) read()
          else resolve(end === 'early' ? undefined : end)
        } catch (error) {
          reject(error)
        }
      }
      read()
    })
  } finally {
    forget?.()
    release(iterator)
  }
}

/** The chunk itself when it is the last one. */
function accept(draft: AnswerDraft, chunk: LlmChunk): Terminal | undefined {
  if (chunk.type === 'finish' || chunk.type === 'error') return chunk
  if (chunk.type === 'usage') draft.usage = chunk.usage
  else draft.add(chunk)
  return undefined
}

/** Lets the stream clean up. Not awaited: one that hangs must not hold the agent. */
function release(iterator: AsyncIterator<LlmChunk>): void {
  try {
    iterator.return?.().then(undefined, () => {}) // the outcome is known; what the clean-up says changes nothing
  } catch {
    // the same, thrown synchronously
  }
}

function finished(draft: AnswerDraft, finish: Answer['finish']): AttemptOutcome {
  const { usage } = draft
  // The last call may be cut anywhere, and which one is the last is not known: none of them is run.
  if (finish === 'max-tokens') return { kind: 'answer', finish, content: draft.visible(), calls: [], usage }
  const calls = draft.toolCalls()
  if (calls.some((call) => call.name === ''))
    return failure('MALFORMED_RESPONSE', 'The model made a call without a name.')
  const content = draft.content()
  if (content.length === 0) return failure('EMPTY_RESPONSE', 'The model answered with nothing.')
  return { kind: 'answer', finish, content, calls, usage }
}

function failure(code: LlmFailure['code'], message: string): AttemptOutcome {
  return { kind: 'failure', failure: { code, message } }
}
