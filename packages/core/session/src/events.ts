// The session log's vocabulary. One JSON object a line: `{seq, time, type, data}`, `seq` contiguous from 0. Safe in a browser: types only.
import type { AssistantBlock, LlmFailure, ModelRef, TokenUsage, LlmMessage } from '@deepseek-ai/dsh-llm'
import type { ContentBlock, Json, MessageSource, ToolSchema } from '@deepseek-ai/dsh-tools'

/** A user-role message, from a person, a plugin or a tool. `id` never changes. */
export interface SessionMessage {
  readonly id: string
  readonly content: readonly ContentBlock[]
  readonly source: MessageSource
}

export type TurnEndReason =
  | { readonly kind: 'completed' }
  | { readonly kind: 'max-tokens' }
  /** `cause` says who stopped it: `user`, `disposed`, or a plugin's own word. */
  | { readonly kind: 'aborted'; readonly cause: string }
  | { readonly kind: 'error'; readonly error: Pick<LlmFailure, 'message' | 'status'> & { readonly code: string } }
  /** The process ended in the middle; written on the next load. */
  | { readonly kind: 'interrupted' }

/** How a message waits: `queue` for the next turn, `steer` for the next step of the running turn, `inject` for the next request without waking. */
export type Delivery = 'queue' | 'steer' | 'inject'

export interface SessionEventMap {
  /** Always seq 0. `format` is 1. */
  'session/start': { readonly format: 1; readonly id: string; readonly cwd: string; readonly title?: string }
  'session/title': { readonly title: string; readonly by: 'user' | 'first-message' }
  /** The model for later turns, chosen by a person. */
  'session/model': ModelRef
  /** A message enters the inbox, */
  'inbox/added': { readonly message: SessionMessage; readonly delivery: Delivery }
  /** and leaves it without having been sent (withdrawn by a person or cancelled). Claiming is told by `user/message`. */
  'inbox/removed': { readonly ids: readonly string[] }
  'turn/start': { readonly turn: number }
  'turn/end': { readonly turn: number; readonly reason: TurnEndReason }
  /** What the model is told besides messages; logged before the first request and when it changes. */
  'request/header': {
    readonly provider: string
    readonly model: string
    readonly system: string
    readonly tools: readonly ToolSchema[]
  }
  /** A message joins the conversation. */
  'user/message': { readonly turn: number; readonly message: SessionMessage }
  'assistant/message': {
    readonly turn: number
    readonly step: number
    readonly content: readonly AssistantBlock[]
    readonly model: ModelRef
    readonly usage?: TokenUsage
    /** Milliseconds from request to the end of the stream. */
    readonly durationMs: number
    /** The stream was cut; what was visible is kept, half a tool call is not. */
    readonly interrupted?: true
  }
  'llm/retry': {
    readonly turn: number
    readonly step: number
    readonly attempt: number
    readonly delayMs: number
    readonly failure: LlmFailure
  }
  /** A call is about to start. `arguments` is the model's raw text. */
  'tool/call': {
    readonly turn: number
    readonly step: number
    readonly callId: string
    readonly name: string
    readonly arguments: string
  }
  'tool/result': {
    readonly turn: number
    readonly step: number
    readonly callId: string
    /** `seq` of the `tool/call`; absent when the call was never logged. */
    readonly callSeq?: number
    readonly content: readonly ContentBlock[]
    readonly isError: boolean
    readonly error?: { readonly code: string; readonly message: string }
    readonly meta?: Json
    /** Milliseconds from `tool/call`. */
    readonly durationMs: number
  }
  /** A program of the call `callId` calls a tool. `arguments` is JSON text, like a model's. */
  'tool/sub-call': {
    readonly callId: string
    readonly subCallId: string
    readonly name: string
    readonly arguments: string
  }
  /** How that ended, told in the order of the program. Never part of what a model is sent: the program got the value. */
  'tool/sub-result': {
    readonly callId: string
    readonly subCallId: string
    /** `seq` of the `tool/sub-call`. */
    readonly callSeq: number
    readonly content: readonly ContentBlock[]
    readonly isError: boolean
    readonly error?: { readonly code: string; readonly message: string }
    readonly durationMs: number
  }
  /** Something a person should know about the log itself, e.g. a torn last line that was dropped. */
  'session/notice': { readonly code: string; readonly message: string }
}

export type SessionEventType = keyof SessionEventMap

export type SessionEvent<T extends SessionEventType = SessionEventType> = {
  [K in T]: {
    readonly seq: number
    /** Milliseconds since the epoch. */ readonly time: number
    readonly type: K
    readonly data: SessionEventMap[K]
  }
}[T]

/** One line of a session list. */
export interface SessionSummary {
  readonly id: string
  readonly title: string
  readonly cwd: string
  readonly createdAt: number
  /** Time of the last event. */
  readonly updatedAt: number
  readonly events: number
  /** A turn was open when the log was last written and no live agent works on it. */
  readonly interrupted: boolean
}

export type { LlmMessage }
