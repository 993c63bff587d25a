// The contract of model adapters: one provider-neutral streaming request. No behaviour lives here.
import type { ContentBlock, TextBlock, ToolSchema } from '@deepseek-ai/dsh-tools'

export interface ReasoningBlock {
  readonly type: 'reasoning'
  readonly text: string
}
export interface ToolCallBlock {
  readonly type: 'tool-call'
  readonly id: string
  readonly name: string
  /** Raw JSON text exactly as the model wrote it. */
  readonly arguments: string
}
export type AssistantBlock = TextBlock | ReasoningBlock | ToolCallBlock

export interface UserMessage {
  readonly role: 'user'
  readonly content: readonly ContentBlock[]
}
export interface AssistantMessage {
  readonly role: 'assistant'
  readonly content: readonly AssistantBlock[]
}
export interface ToolMessage {
  readonly role: 'tool'
  readonly callId: string
  readonly content: readonly ContentBlock[]
  readonly isError: boolean
}
export type LlmMessage = UserMessage | AssistantMessage | ToolMessage

export interface LlmRequest {
  provider: string
  model: string
  system: string
  tools: readonly ToolSchema[]
  messages: readonly LlmMessage[]
  /** Upper bound of generated tokens. Omitted: the provider's own. */
  maxTokens?: number
  signal: AbortSignal
  /** Stable per session; providers may use it to route to a warm cache. */
  sessionId?: string
}

/** Disjoint counts. */
export interface TokenUsage {
  /** Read uncached. */
  readonly input: number
  readonly output: number
  readonly cacheRead?: number
  readonly cacheWrite?: number
  /** Part of `output`. */
  readonly reasoning?: number
}

/**
 * `MISSING_CREDENTIAL AUTH QUOTA RATE_LIMIT CONTEXT_WINDOW_EXCEEDED INVALID_REQUEST UNKNOWN_MODEL NO_ADAPTER` need a person or
 * another request; `SERVER TIMEOUT TRANSPORT STREAM_CLOSED EMPTY_RESPONSE MALFORMED_RESPONSE` may pass on a retry.
 */
export type LlmFailureCode =
  | 'MISSING_CREDENTIAL'
  | 'AUTH'
  | 'QUOTA'
  | 'RATE_LIMIT'
  | 'CONTEXT_WINDOW_EXCEEDED'
  | 'INVALID_REQUEST'
  | 'UNKNOWN_MODEL'
  | 'NO_ADAPTER'
  | 'SERVER'
  | 'TIMEOUT'
  | 'TRANSPORT'
  | 'STREAM_CLOSED'
  | 'EMPTY_RESPONSE'
  | 'MALFORMED_RESPONSE'
  | 'ABORTED'
  | 'UNKNOWN'

export interface LlmFailure {
  readonly code: LlmFailureCode
  /** One sentence that says what happened and what to do. Never holds a key. */
  readonly message: string
  /** HTTP status, when there was one. */
  readonly status?: number
  /** What the provider asked to wait before a retry, in milliseconds. */
  readonly retryAfterMs?: number
  readonly requestId?: string
}

/**
 * One piece of a streamed answer. A stream yields any number of deltas, at most one `usage`, then exactly one terminal
 * chunk (`finish` or `error`), and never throws.
 */
export type LlmChunk =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string }
  /** `index` tells parallel calls apart; `id` and `name` come with the first delta of a call. */
  | {
      readonly type: 'tool-call'
      readonly index: number
      readonly id?: string
      readonly name?: string
      readonly argumentsDelta: string
    }
  | { readonly type: 'usage'; readonly usage: TokenUsage }
  | { readonly type: 'finish'; readonly reason: 'stop' | 'tool-calls' | 'max-tokens' }
  | { readonly type: 'error'; readonly failure: LlmFailure }

export interface LlmModel {
  readonly provider: string
  readonly id: string
  /** Shown to people. Default: the id. */
  readonly name?: string
  /** Tokens. */
  readonly contextWindow?: number
  /** What it reads. Default: text alone. An adapter puts text in place of what its model does not read, and never fails for it. */
  readonly input?: readonly ModelInput[]
}

export type ModelInput = 'text' | 'image'

/** What a person can be told about a provider without showing a secret. */
export interface LlmProviderStatus {
  readonly provider: string
  readonly label: string
  /** True when requests can be made now. */
  readonly configured: boolean
  /** Where it sends requests. Omitted for an in-process model. */
  readonly baseURL?: string
  /** Where the key in use came from, e.g. `environment OPENAI_API_KEY`. Omitted without one. */
  readonly keySource?: string
  /** What to do when it is not configured, e.g. `Set DEEPSEEK_API_KEY or add a key in Settings.` */
  readonly remedy?: string
  readonly models: readonly LlmModel[]
  /** True when `configure` is supported. */
  readonly configurable: boolean
}

/** Settings a person may store for a provider; `undefined` leaves a field, `null` clears it. */
export interface LlmProviderSettings {
  apiKey?: string | null
  baseURL?: string | null
  model?: string | null
}

export interface LlmAdapter {
  readonly provider: string
  status(): LlmProviderStatus
  /** What a model reads, listed or not. Omitted: what `status` says of it. */
  inputOf?(model: string): readonly ModelInput[]
  /** Contract: never throws and never rejects; a failure is the terminal chunk. Stops soon after `request.signal` fires. */
  stream(request: LlmRequest): AsyncIterable<LlmChunk>
  /** Stores settings durably and uses them from the next request on. */
  configure?(settings: LlmProviderSettings): Promise<void>
}

/** A model in use. */
export interface ModelRef {
  readonly provider: string
  readonly model: string
}
