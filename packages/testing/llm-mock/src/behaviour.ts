// What the mock model can be told to do, as data. server.ts does it.
import type { MockRequest } from './server.ts'

export interface MockToolCall {
  /** Default: unique within the server. `null` sends none, as some servers do. */
  readonly id?: string | null
  readonly name: string
  /** An object is sent as JSON; a string as it is, valid or not. */
  readonly arguments: string | Readonly<Record<string, unknown>>
}

export interface MockUsage {
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly prompt_tokens_details?: { readonly cached_tokens: number }
  readonly completion_tokens_details?: { readonly reasoning_tokens: number }
  /** DeepSeek's own field. */
  readonly prompt_cache_hit_tokens?: number
}

/** A streamed answer: reasoning, then text, then calls. */
export interface MockAnswer {
  readonly kind: 'answer'
  readonly text?: string
  readonly reasoning?: string
  /** Default `reasoning_content`. */
  readonly reasoningField?: 'reasoning_content' | 'reasoning'
  readonly toolCalls?: readonly MockToolCall[]
  /**
   * How calls are streamed. `fragments` (default): id and name once, arguments in pieces; `repeat-id`: id and name with every piece;
   * `whole`: each call in one delta; `whole-same-index`: the same, all with index 0; `no-index`: pieces without an index.
   */
  readonly callStyle?: 'fragments' | 'repeat-id' | 'whole' | 'whole-same-index' | 'no-index'
  /** Default: `tool_calls` with calls, else `stop`. `null` sends none. */
  readonly finish?: string | null
  /** Default: a small fixed one, when the request asks for usage. `null` sends none. */
  readonly usage?: MockUsage | null
  /** Characters a delta. Default 8. */
  readonly pieceLength?: number
  /** Pause before each delta, in milliseconds. Default 0. */
  readonly delayMs?: number
  /** Sends comment lines during each pause, as servers do to keep a connection alive. */
  readonly keepalive?: boolean
  /** After that many deltas: `disconnect` destroys the socket, `stall` waits until the client closes, `end` ends the body cleanly. */
  readonly cut?: { readonly after: number; readonly how: 'disconnect' | 'stall' | 'end' }
}

export type MockBehaviour =
  | MockAnswer
  | {
      readonly kind: 'error'
      readonly status: number
      /** An object is sent as JSON. */
      readonly body?: string | Readonly<Record<string, unknown>>
      readonly headers?: Readonly<Record<string, string>>
      /** Sends the body but never ends it. */
      readonly stall?: boolean
    }
  /** Destroys the socket before any header. */
  | { readonly kind: 'reset' }
  /** Never answers: no header, no byte. */
  | { readonly kind: 'stall' }
  /** One text delta, then an event that is not JSON. */
  | { readonly kind: 'malformed-json' }
  /** An error event inside the stream. */
  | { readonly kind: 'stream-error'; readonly error: Readonly<Record<string, unknown>> }
  /** 200 with a body that is no event stream. Default: an HTML page. */
  | { readonly kind: 'not-sse'; readonly contentType?: string; readonly body?: string }
  /** A stream that finishes without any content. */
  | { readonly kind: 'empty' }
  /** 200, event stream, no byte. */
  | { readonly kind: 'empty-body' }
  /** Body text sent as it is. */
  | { readonly kind: 'raw'; readonly body: string; readonly contentType?: string }

/** A queue (one a request; when it is empty the tools are followed), or a function of the request and its number from 1. */
export type MockScript =
  | readonly MockBehaviour[]
  | ((request: MockRequest, number: number) => MockBehaviour | Promise<MockBehaviour>)
